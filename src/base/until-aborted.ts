import { WorkcellError } from '../protocol/errors.js';

/**
 * Waits for work that others may wait for, too. When the signal aborts, this caller gets an error that says so, and
 * the work continues. `what`: the work, as the subject of a sentence.
 */
export async function untilAborted<Result>(
  work: Promise<Result>,
  signal: AbortSignal | undefined,
  what: string,
): Promise<Result> {
  if (signal === undefined) return work;
  let stop = () => {};
  const aborted = new Promise<never>((_resolve, reject) => {
    stop = () => reject(new WorkcellError('cancelled', `${what} was cancelled.`));
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, { once: true });
  });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener('abort', stop);
    // The caller may have left by the time it fails.
    work.catch(() => {});
  }
}
