/** Text from a cell, with every character that could deceive a reader made visible. */

export interface Piece {
  readonly text: string;
  /** Stands for a character that has no form of its own, or changes the order or look of others. */
  readonly mark: boolean;
}

/**
 * Control characters, directions, joiners without width, tags, and halves of characters. We show them as code points,
 * so that the order on the screen is the stored order.
 */
const hidden = /\p{Default_Ignorable_Code_Point}|\p{Cc}|\p{Cf}|\p{Cs}|\p{Zl}|\p{Zp}/gu;

export function pieces(text: string): Piece[] {
  const found: Piece[] = [];
  let position = 0;
  for (const match of text.matchAll(hidden)) {
    if (isPlain(text, match)) continue;
    if (match.index > position) found.push({ text: text.slice(position, match.index), mark: false });
    found.push({ text: nameOf(match[0]), mark: true });
    position = match.index + match[0].length;
  }
  if (position < text.length) found.push({ text: text.slice(position), mark: false });
  return found;
}

const mostPieces = 4000;

/** The same with a bound, for a page: each piece is an element there. What follows has its marks without their colour. */
export function fewPieces(text: string): Piece[] {
  const all = pieces(text);
  if (all.length <= mostPieces) return all;
  const rest = all.slice(mostPieces - 1).map((piece) => piece.text);
  return [...all.slice(0, mostPieces - 1), { text: rest.join(''), mark: false }];
}

/** The same as one string, for titles and attributes. */
export function visible(text: string): string {
  return pieces(text)
    .map((piece) => piece.text)
    .join('');
}

const escapes =
  /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|[PX^_][^\u001b]*(?:\u001b\\)?|[ -/]*[0-~])/g;

/** What a terminal prints, without its sequences, and of lines that are written again and again the last. */
export function screenText(text: string): string {
  return text.replace(escapes, '').split('\n').map(lastWritten).join('\n');
}

/** What a line shows after the returns in it. An expression for those at its end would start again at each one. */
function lastWritten(line: string): string {
  let end = line.length;
  while (end > 0 && line[end - 1] === '\r') end--;
  return line.slice(line.lastIndexOf('\r', end - 1) + 1, end);
}

/** The first line of a text, short enough for a row. */
export function firstLine(text: string, most = 240): string {
  const [line = ''] = text
    .trimStart()
    .slice(0, most + 1)
    .split('\n', 1);
  const rest = text.trim().length > line.length;
  return line.length > most ? `${line.slice(0, most)}…` : rest && line.length < most ? `${line} …` : line;
}

/** Tabs, ends of lines as all systems write them, and an emoji's choice of its coloured form deceive nobody. */
function isPlain(text: string, { 0: found, index }: RegExpExecArray): boolean {
  if (found === '\r') return text[index + 1] === '\n';
  return found === '\n' || found === '\t' || found === '\ufe0f';
}

function nameOf(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  if (code === 0x1b) return 'ESC';
  return `U+${code.toString(16).toUpperCase().padStart(4, '0')}`;
}
