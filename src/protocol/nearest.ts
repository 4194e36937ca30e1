/** The candidate that the author of a mistyped word most likely meant, or none when nothing is close. */
export function nearest(word: string, candidates: readonly string[]): string | undefined {
  const limit = Math.max(1, Math.floor(word.length * 0.4));
  const ranked = candidates
    // No distance is less than this, and the word can be as long as a file.
    .filter((candidate) => Math.abs(candidate.length - word.length) <= limit)
    .map((candidate) => ({ candidate, distance: editDistance(word.toLowerCase(), candidate.toLowerCase()) }))
    .filter(({ distance }) => distance <= limit)
    .sort((left, right) => left.distance - right.distance);
  return ranked[0]?.candidate;
}

/** The sentence that offers it, with a space before. */
export function didYouMean(word: string | undefined): string {
  return word === undefined ? '' : ` Did you mean ${word}?`;
}

/** How many letters to change, add, leave out or swap with the next, with two rows of the table at a time. */
function editDistance(left: string, right: string): number {
  let before: number[] = [];
  let row = Array.from({ length: right.length + 1 }, (_, index) => index);
  for (let index = 0; index < left.length; index++) {
    const next = [index + 1];
    for (let column = 0; column < right.length; column++) {
      const replaced = (row[column] ?? 0) + (left[index] === right[column] ? 0 : 1);
      const isSwapped = left[index] === right[column - 1] && left[index - 1] === right[column];
      const swapped = isSwapped ? (before[column - 1] ?? 0) + 1 : replaced;
      next.push(Math.min(replaced, swapped, (row[column + 1] ?? 0) + 1, (next[column] ?? 0) + 1));
    }
    before = row;
    row = next;
  }
  return row.at(-1) ?? 0;
}
