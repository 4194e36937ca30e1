/** The answers that are the same on every start, so that the bundler can write them beforehand. */

export interface PreparedAnswers {
  readonly version: string;
  /** Where lines wrap as in a terminal that is 80 columns wide, which also holds for pipes and files. */
  readonly help: string;
  /** Without wrapped lines. */
  readonly wideHelp: string;
}

const usualWidth = 80;

/** What the program would print for these words; undefined for all else. `columns`: of the terminal, if it is one. */
export function preparedAnswer(
  words: readonly string[],
  { version, help, wideHelp }: PreparedAnswers,
  columns: number = usualWidth,
): string | undefined {
  const [word = '', ...more] = words;
  if (more.length > 0) return undefined;
  if (['-V', '--version'].includes(word)) return `${version}\n`;
  if (!['-h', '--help'].includes(word)) return undefined;
  if (columns === usualWidth) return help;
  return wideHelp.split('\n').every((line) => line.length <= columns) ? wideHelp : undefined;
}
