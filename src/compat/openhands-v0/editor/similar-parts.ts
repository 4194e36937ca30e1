/** Finds the parts of a file that have most lines in common with a text. */

export interface Part {
  /** Counted from 1. */
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

const partLines = 20;
const mostParts = 3;

/** The best ones in the order of the file, none of which overlap. */
export function mostSimilar(lines: readonly string[], text: string): Part[] {
  const wanted = new Set(text.split('\n').map((line) => line.trim()));
  wanted.delete('');
  const matches = lines.map((line) => (wanted.has(line.trim()) ? 1 : 0));
  // How many lines of each window match, as a sum that moves along.
  const starts = Math.max(1, lines.length - partLines + 1);
  let sum = matches.slice(0, partLines).reduce<number>((total, match) => total + match, 0);
  const scores = [sum];
  for (let start = 1; start < starts; start++) {
    sum += (matches[start + partLines - 1] ?? 0) - (matches[start - 1] ?? 0);
    scores.push(sum);
  }
  const best: number[] = [];
  const isFree = (start: number) => best.every((other) => Math.abs(other - start) >= partLines);
  for (let part = 0; part < mostParts; part++) {
    let found: number | undefined;
    for (const [start, score] of scores.entries())
      if (isFree(start) && (found === undefined || score > (scores[found] ?? 0))) found = start;
    if (found !== undefined) best.push(found);
  }
  return best
    .sort((a, b) => a - b)
    .map((start) => {
      const part = lines.slice(start, start + partLines);
      return { start: start + 1, end: start + part.length, text: part.join('').trimEnd() };
    });
}
