/** Whether two series that were measured in turn differ by more than chance explains. */

export interface Change {
  /** The later head divided by the earlier: the geometric mean over all rounds. */
  readonly ratio: number;
  /** How often chance alone gives a difference at least this large. */
  readonly chance: number;
}

/**
 * Compares what both heads took in each round. Under chance alone the two values of a round could as well be exchanged, so
 * the test counts for how many of all exchanges the sum is at least as large as the one seen.
 */
export function compareRounds(before: readonly number[], after: readonly number[]): Change {
  const differences = before.map((value, round) => Math.log((after[round] ?? Number.NaN) / value));
  const sum = differences.reduce((total, difference) => total + difference, 0);
  const exchanges = 2 ** differences.length;
  // Rounding must not make the sum itself look smaller than it is.
  const seen = Math.abs(sum) - 1e-12;
  let atLeast = 0;
  for (let signs = 0; signs < exchanges; signs++) {
    let exchanged = 0;
    for (const [round, difference] of differences.entries())
      exchanged += (signs >> round) & 1 ? -difference : difference;
    if (Math.abs(exchanged) >= seen) atLeast++;
  }
  return { ratio: Math.exp(sum / differences.length), chance: atLeast / exchanges };
}

/** Which of many changes stand out when all are looked at together (Holm's method): the more figures, the stricter. */
export function beyondNoise(chances: readonly number[], level: number): boolean[] {
  const order = chances.map((_, index) => index).sort((a, b) => (chances[a] ?? 1) - (chances[b] ?? 1));
  const found = chances.map(() => false);
  for (const [rank, index] of order.entries()) {
    if ((chances[index] ?? 1) > level / (chances.length - rank)) break;
    found[index] = true;
  }
  return found;
}

/** How many rounds it takes until one figure of so many can stand out at all. */
export function fewestRounds(figures: number, level: number): number {
  return Math.ceil(Math.log2((2 * figures) / level));
}
