/** Lets several forks try the same, and keeps the best. */
import { WorkcellError } from '../protocol/index.js';
import type { Runtime } from './runtime.js';

/** How many forks try what, and who judges. */
export interface BestOfOptions<Result> {
  /** How many forks try. */
  readonly count: number;
  /** One try, in a runtime of its own. `index` counts from 0; `signal` says that nobody waits for it any more. */
  attempt(fork: Runtime, index: number, signal: AbortSignal): Promise<Result>;
  /** How good it is; more is better. A try that throws, whose judgement throws or is no number, is out. */
  judge(result: Result, fork: Runtime): number | Promise<number>;
  /** Closes all forks, also those whose tries go on, and ends this with `cancelled`. */
  readonly signal?: AbortSignal | undefined;
}

/** The best try. You close its runtime, after you took over what it did. */
export interface Best<Result> {
  readonly winner: Runtime;
  readonly result: Result;
  readonly score: number;
  /** Of every try, in order; undefined for one that failed. */
  readonly scores: readonly (number | undefined)[];
  /** Why each try without a score failed, by its index. */
  readonly failures: ReadonlyMap<number, unknown>;
  /** What went wrong when it closed the other forks. */
  readonly closeFailures: readonly unknown[];
}

type Outcome<Result> = { readonly result: Result; readonly score: number } | { readonly failure: unknown };

/** A try of an agent that gets the tools of its own fork: `toolsOf` is that of an adapter, such as `aiSdkTools`. */
export function attemptWith<Tools, Result>(
  toolsOf: (fork: Runtime) => Tools,
  attempt: (tools: Tools, index: number, signal: AbortSignal) => Promise<Result>,
): BestOfOptions<Result>['attempt'] {
  return (fork, index, signal) => attempt(toolsOf(fork), index, signal);
}

/** Forks a runtime, has every fork try, and closes all but the best. Throws the first failure when all of them fail. */
export async function bestOf<Result>(
  runtime: Runtime,
  { count, attempt, judge, signal }: BestOfOptions<Result>,
): Promise<Best<Result>> {
  const ended = new AbortController();
  const forks = await runtime.fork({ count, signal });
  const one = async (fork: Runtime, index: number): Promise<Outcome<Result>> => {
    try {
      const result = await attempt(fork, index, ended.signal);
      return { result, score: checked(await judge(result, fork)) };
    } catch (failure) {
      return { failure };
    }
  };
  let outcomes: Outcome<Result>[];
  try {
    outcomes = await unlessAborted(() => Promise.all(forks.map(one)), signal);
  } catch (error) {
    ended.abort(error);
    await closeAll(forks);
    throw error;
  }
  const scores = outcomes.map((outcome) => ('score' in outcome ? outcome.score : undefined));
  const failures = new Map(
    outcomes.flatMap((outcome, index) => ('failure' in outcome ? [[index, outcome.failure]] : [])),
  );
  const score = Math.max(...scores.filter((one) => one !== undefined));
  const index = scores.indexOf(score);
  const [winner, outcome] = [forks[index], outcomes[index]];
  const closeFailures = await closeAll(forks.filter((fork) => fork !== winner));
  if (winner === undefined || outcome === undefined || !('result' in outcome)) throw failures.get(0);
  return { winner, ...outcome, scores, failures, closeFailures };
}

/** Nothing compares with NaN, so it would win or lose by its place. */
function checked(score: unknown): number {
  if (typeof score === 'number' && !Number.isNaN(score)) return score;
  throw new WorkcellError('invalid-config', `judge must return a number, and it returned ${String(score)}.`);
}

/** Returns what failed. */
async function closeAll(forks: readonly Runtime[]): Promise<unknown[]> {
  const closed = await Promise.allSettled(forks.map(async (fork) => fork.close()));
  return closed.flatMap((result) => (result.status === 'rejected' ? [result.reason] : []));
}

async function unlessAborted<T>(work: () => Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  let stop = () => {};
  const aborted = new Promise<never>((_, reject) => {
    stop = () => reject(new WorkcellError('cancelled', 'The tries were cancelled by the caller.'));
    if (signal?.aborted) stop();
    signal?.addEventListener('abort', stop, { once: true });
  });
  try {
    return await Promise.race([work(), aborted]);
  } finally {
    signal?.removeEventListener('abort', stop);
  }
}
