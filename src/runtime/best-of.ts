/** Lets several forks try the same, and keeps the best. */
import type { Runtime } from './runtime.js';

/** How many forks try what, and who judges. */
export interface BestOfOptions<Result> {
  /** How many forks try. */
  readonly count: number;
  /** One try, in a runtime of its own. `index` counts from 0. */
  attempt(fork: Runtime, index: number): Promise<Result>;
  /** How good it is; more is better. A try that throws, or whose judgement throws, is out. */
  judge(result: Result, fork: Runtime): number | Promise<number>;
}

/** The best try. You close its runtime, after you took over what it did. */
export interface Best<Result> {
  readonly winner: Runtime;
  readonly result: Result;
  readonly score: number;
  /** Of every try, in order; undefined for one that failed. */
  readonly scores: readonly (number | undefined)[];
}

/** Forks a runtime, has every fork try, and closes all but the best. Throws the first failure when all of them fail. */
export async function bestOf<Result>(
  runtime: Runtime,
  { count, attempt, judge }: BestOfOptions<Result>,
): Promise<Best<Result>> {
  const forks = await runtime.fork({ count });
  const tries = await Promise.allSettled(
    forks.map(async (winner, index) => {
      const result = await attempt(winner, index);
      return { winner, result, score: await judge(result, winner) };
    }),
  );
  const done = tries.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value] : []));
  const [first, ...others] = done;
  const best = others.reduce((one, other) => (other.score > (one?.score ?? 0) ? other : one), first);
  await Promise.all(forks.filter((fork) => fork !== best?.winner).map((fork) => fork.close()));
  if (best === undefined) throw tries.find((outcome) => outcome.status === 'rejected')?.reason;
  const scores = tries.map((outcome) => (outcome.status === 'fulfilled' ? outcome.value.score : undefined));
  return { ...best, scores };
}
