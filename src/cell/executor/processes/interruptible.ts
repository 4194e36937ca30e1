import { WorkcellError } from '../../../protocol/index.js';

/**
 * Does work that a caller can stop waiting for: by its signal, with `cancelled`, or after a time, with `timed-out`.
 * The work hears of it through its signal, and the caller does not wait for the work to stop.
 */
export async function interruptible<T>(
  what: string,
  options: { signal?: AbortSignal | undefined; timeoutMs?: number | undefined },
  work: (stopped: AbortSignal) => Promise<T>,
): Promise<T> {
  const { signal, timeoutMs } = options;
  const stop = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  let cancel = () => {};
  const interrupted = new Promise<never>((_resolve, reject) => {
    cancel = () => reject(new WorkcellError('cancelled', `${what} was cancelled by the caller.`));
    if (timeoutMs !== undefined) {
      timer = setTimeout(() => {
        const message = `${what} took longer than ${timeoutMs} ms; wait again, or give a longer timeoutMs.`;
        reject(new WorkcellError('timed-out', message, { details: { timeoutMs } }));
      }, timeoutMs);
    }
    if (signal?.aborted) cancel();
    else signal?.addEventListener('abort', cancel, { once: true });
  });
  try {
    return await Promise.race([work(stop.signal), interrupted]);
  } finally {
    stop.abort();
    clearTimeout(timer);
    signal?.removeEventListener('abort', cancel);
  }
}
