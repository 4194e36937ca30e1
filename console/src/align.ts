/** Puts the entries of two runs side by side: the same actions in the same order, and what only one of them has. */
import type { Entry } from './timeline.js';

export interface Pair {
  readonly before?: Entry | undefined;
  readonly after?: Entry | undefined;
}

/** The longest common sequence of actions. Its cost grows with both lengths, so bound them before. */
export function align(before: readonly Entry[], after: readonly Entry[]): Pair[] {
  const left = before.map(wordsOf);
  const right = after.map(wordsOf);
  const width = right.length + 1;
  const best = new Uint16Array((left.length + 1) * width);
  const at = (row: number, column: number) => best[row * width + column] ?? 0;
  for (let row = left.length - 1; row >= 0; row--)
    for (let column = right.length - 1; column >= 0; column--)
      best[row * width + column] =
        left[row] === right[column]
          ? at(row + 1, column + 1) + 1
          : Math.max(at(row + 1, column), at(row, column + 1));
  const pairs: Pair[] = [];
  let row = 0;
  let column = 0;
  while (row < left.length || column < right.length) {
    if (row < left.length && column < right.length && left[row] === right[column])
      pairs.push({ before: before[row++], after: after[column++] });
    else if (column >= right.length || (row < left.length && at(row + 1, column) >= at(row, column + 1)))
      pairs.push({ before: before[row++] });
    else pairs.push({ after: after[column++] });
  }
  return pairs;
}

/** Whether the same action went differently. */
export function differs({ before, after }: Pair): boolean {
  if (before === undefined || after === undefined) return true;
  return (
    before.outcome !== after.outcome || before.ending !== after.ending || printed(before) !== printed(after)
  );
}

function wordsOf({ name, title, action }: Entry): string {
  return `${name} ${typeof action?.command === 'string' ? action.command : title}`;
}

function printed({ observation, error }: Entry): string {
  const { output, stdout, diff, content } = observation ?? {};
  return JSON.stringify([output, stdout, diff, content, error?.message]);
}
