/**
 * Calls a function and ends it when it takes too long, also in the middle of a loop or a regular expression. A thread of the
 * engine keeps the time, so it is kept although nothing else of this process runs meanwhile. A call costs a fraction of a
 * millisecond: for what cannot be bounded otherwise.
 */
import { createContext, Script } from 'node:vm';

export class TookTooLong extends Error {
  override readonly name = 'TookTooLong';
}

const place: { work?: (() => unknown) | undefined } = createContext({});
const script = new Script('work()');

/** Throws `TookTooLong`, or what the function throws. */
export function withinMs<Result>(milliseconds: number, work: () => Result): Result {
  place.work = work;
  try {
    return script.runInContext(place, { timeout: milliseconds }) as Result;
  } catch (error) {
    if ((error as NodeJS.ErrnoException | undefined)?.code !== 'ERR_SCRIPT_EXECUTION_TIMEOUT') throw error;
    throw new TookTooLong(`It took more than ${milliseconds} ms.`, { cause: error });
  } finally {
    place.work = undefined;
  }
}
