/** The control sequences of terminals, as far as they show on the screen. */

/** Sequences that move over the screen or switch to the alternate one; a line at a time cannot show them. */
const screenSequence = /\x1b(?:\[\??[\d;]*[ABEFHJLMSTdfr]|\[\?(?:47|1047|1049)[hl]|[78MDEc])/;

/** One control sequence, of the kind `\x1b [ parameters final`. */
const controlSequence = /\x1b\[([<-?]?)([\d;:]*)([ -/]*)([@-~])/y;

/**
 * Any other sequence: the string kinds (OSC, SOS, PM, APC up to the end of the line at most, DCS up to its own end), a
 * control sequence that is not well formed, the short ones, and one that the text ends in.
 */
const otherSequence =
  /\x1b(?:P[^\x1b]*\x1b\\|[\]PX^_][^\x07\x1b\n]*(?:\x07|\x1b\\|(?=\n)|$)|\[[\x20-\x3f]*|[ -/]*[0-~]|[ -/]*$)/y;

/** No terminal understands more parameters than this. */
const longestParameters = 256;

export interface Sequence {
  /** Where the text continues behind it. */
  readonly end: number;
  /** What a control sequence ends in, with its private mark before it; the whole of a short one, such as `\x1bM`. */
  readonly name: string;
  readonly parameters: readonly number[];
}

export function paintsScreen(text: string): boolean {
  return screenSequence.test(text);
}

/** The sequence that begins with the escape character at a position. One that means nothing has no name. */
export function readSequence(text: string, at: number): Sequence {
  controlSequence.lastIndex = at;
  const match = controlSequence.exec(text);
  if (match !== null) {
    const [whole, mark = '', parameters = '', between = '', final = ''] = match;
    const isKnown = between === '' && parameters.length <= longestParameters;
    return {
      end: at + whole.length,
      name: isKnown ? `${mark}${final}` : '',
      parameters: isKnown ? parameters.split(/[;:]/, 16).map(Number) : [],
    };
  }
  otherSequence.lastIndex = at;
  const [other = '\x1b'] = otherSequence.exec(text) ?? [];
  return { end: at + other.length, name: other.length <= 3 ? other : '', parameters: [] };
}
