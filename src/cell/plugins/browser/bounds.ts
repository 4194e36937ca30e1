/** Limits on how long something may take that a page can influence. */
import { WorkcellError } from '../../../protocol/index.js';

/** Thrown when a page did not answer in time. */
export class Unresponsive extends Error {}

/** Stops waiting after a time, or when the caller does. The work itself continues. */
export function within<Result>(
  work: Promise<Result>,
  { ms, what, signal }: { ms: number; what: string; signal?: AbortSignal | undefined },
): Promise<Result> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Unresponsive(`${what} took more than ${ms} ms.`)), ms);
    const abort = () => reject(new WorkcellError('cancelled', `${what} was cancelled.`));
    if (signal?.aborted) abort();
    signal?.addEventListener('abort', abort, { once: true });
    work.then(resolve, reject).finally(() => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', abort);
    });
    // A caller that stopped waiting does not hear of a failure.
    work.catch(() => {});
  });
}

/** Runs one thing after the other, whether or not the previous one failed. */
export class Turns {
  #last: Promise<unknown> = Promise.resolve();

  take<Result>(work: () => Promise<Result>): Promise<Result> {
    const turn = this.#last.then(work);
    this.#last = turn.catch(() => {});
    return turn;
  }
}

/** What Playwright says of a failure, without its log of calls and its colours. */
export function reasonOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  const [head = ''] = message.split(/\n(?:Call log|=+ logs)/);
  return head
    .replace(/\u001b\[[\d;]*m/g, '')
    .replace(/^(?:page|frame|elementHandle|locator|mouse|keyboard|cdpSession)\.\w+: /, '')
    .trim()
    .slice(0, 1500);
}
