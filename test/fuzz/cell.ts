/** What a round of the fuzzer works with: a cell, and the claims that it may break. */
import { type Runtime, WorkcellError } from '../../src/index.js';
import type { LoopWatch } from './loop-watch.js';
import type { Random } from './random.js';

type FindingKind = 'stalled' | 'late' | 'unanswered' | 'memory' | 'false';

export interface Finding {
  readonly kind: FindingKind;
  readonly detail: string;
}

/** An answer may come so much later than its deadline. */
const graceMs = 1000;

/** What is wrong with one round in many places is one thing. */
const mostFindings = 3;

/** An action without an answer this long after its deadline will not get one. */
const patienceMs = 20_000;

export interface FuzzCell {
  readonly runtime: Runtime;
  /** The workspace as this machine sees it; undefined where it cannot. */
  readonly outside: string | undefined;
  /** A command that runs a generator inside the cell. */
  inside(generator: string, seed: number, ...rest: (string | number)[]): string;
  /** The same, for a program that starts without a shell. */
  insideArgv(generator: string, seed: number, ...rest: (string | number)[]): string[];
}

export interface Round extends FuzzCell {
  readonly random: Random;
  readonly seed: number;
  /**
   * Does something that needs an answer by its deadline, a result or an error. An action without its own time limit
   * gets the signal, which aborts at the deadline.
   */
  answered<Result>(
    what: string,
    deadlineMs: number,
    act: (signal: AbortSignal) => Promise<Result>,
  ): Promise<Result | undefined>;
  /** A report has to be true. */
  claim(holds: boolean, what: string): void;
  /** What was in progress when the loop stood still for longest. */
  readonly longestStall: () => string;
}

export function createRound(
  cell: FuzzCell,
  { random, seed, watch, found }: { random: Random; seed: number; watch: LoopWatch; found: Finding[] },
): Round {
  let stalled = { ms: 0, what: 'nothing in particular' };
  return {
    ...cell,
    random,
    seed,
    longestStall: () => stalled.what,
    claim(holds, what) {
      if (!holds && found.length < mostFindings) found.push({ kind: 'false', detail: what });
    },
    async answered(what, deadlineMs, act) {
      const abort = new AbortController();
      const [began, lost] = [performance.now(), watch.lostMs()];
      const atDeadline = setTimeout(() => abort.abort(), deadlineMs);
      let giveUp: NodeJS.Timeout | undefined;
      const gaveUp = new Promise<'unanswered'>((resolve) => {
        giveUp = setTimeout(resolve, deadlineMs + patienceMs, 'unanswered');
      });
      try {
        const work = act(abort.signal).then(
          (result) => ({ result }),
          (error: unknown) => {
            if (!WorkcellError.isInstance(error))
              found.push({ kind: 'false', detail: `${what} failed with no error of ours: ${shown(error)}` });
            return { result: undefined };
          },
        );
        const answer = await Promise.race([work, gaveUp]);
        if (answer === 'unanswered') {
          found.push({ kind: 'unanswered', detail: `${what} was not answered.` });
          throw new Unanswered(what);
        }
        const stallMs = watch.stallMs();
        if (stallMs > stalled.ms) stalled = { ms: stallMs, what };
        const took = performance.now() - began - (watch.lostMs() - lost);
        if (took > deadlineMs + graceMs)
          found.push({ kind: 'late', detail: `${what} took ${Math.round(took)} ms of ${deadlineMs} ms.` });
        return answer.result;
      } finally {
        clearTimeout(atDeadline);
        clearTimeout(giveUp);
      }
    },
  };
}

/** The cell is of no use any more. */
export class Unanswered extends Error {}

function shown(error: unknown): string {
  return (error instanceof Error ? (error.stack ?? error.message) : String(error)).slice(0, 600);
}
