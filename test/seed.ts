/** Repeatable random inputs: a failure names the seed, and WORKCELL_SEED repeats it. */
import { onTestFailed } from 'vitest';
import { Random } from './fuzz/random.js';

/** For one test; call it inside. */
export function seededRandom(): Random {
  const { WORKCELL_SEED: given } = process.env;
  const seed = given === undefined ? Math.floor(Math.random() * 2 ** 32) : Number(given);
  onTestFailed(() => console.error(`To repeat it: WORKCELL_SEED=${seed}`));
  return new Random(seed);
}
