/** Explains why a replacement found no place, or too many. */
import { WorkcellError } from '../../../protocol/index.js';
import { quote } from './file-errors.js';

const namedLines = 20;

export function noMatch(text: string, wanted: string, path: string, which: string): WorkcellError {
  const similar = similarLine(text, wanted);
  const hint =
    similar === undefined
      ? 'Read the file again and copy the text exactly, indentation included.'
      : `Line ${similar} differs from it only in white space or letter case; read it and copy the text exactly.`;
  return new WorkcellError('edit-no-match', `${which}The oldText is not in ${quote(path)}. ${hint}`, {
    details: { path, ...(similar === undefined ? {} : { similarLine: similar }) },
  });
}

export function ambiguous(
  text: string,
  positions: readonly number[],
  path: string,
  which: string,
): WorkcellError {
  const lines = lineNumbers(text, positions.slice(0, namedLines));
  const more = positions.length > namedLines ? ', …' : '';
  return new WorkcellError(
    'edit-ambiguous',
    `${which}The oldText is in ${quote(path)} ${positions.length} times, at lines ${lines.join(', ')}${more}. Add lines around it until it is unique, or set replaceAll.`,
    { details: { path, lines } },
  );
}

/** The line where the wanted text starts, ignoring white space and letter case. */
function similarLine(text: string, wanted: string): number | undefined {
  const wantedLines = wanted
    .split('\n')
    .map(essence)
    .filter((line) => line !== '');
  const first = wantedLines[0];
  if (first === undefined) return undefined;
  const lines = text.split('\n').map((line, index) => ({ number: index + 1, essence: essence(line) }));
  const filled = lines.filter((line) => line.essence !== '');
  const start = filled.findIndex((_, index) =>
    wantedLines.every((line, offset) => filled[index + offset]?.essence.includes(line)),
  );
  return (filled[start] ?? filled.find((line) => line.essence === first))?.number;
}

function essence(line: string): string {
  return line.replace(/\s+/g, '').toLowerCase();
}

function lineNumbers(text: string, positions: readonly number[]): number[] {
  let line = 1;
  let position = 0;
  return positions.map((wanted) => {
    for (
      let next = text.indexOf('\n', position);
      next !== -1 && next < wanted;
      next = text.indexOf('\n', position)
    ) {
      line++;
      position = next + 1;
    }
    return line;
  });
}
