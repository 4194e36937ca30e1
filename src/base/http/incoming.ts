import type { IncomingMessage } from 'node:http';
import { WorkcellError } from '../../protocol/index.js';

/**
 * The body of a request as it comes. A sender that goes silent, or away, ends it with an error. `silence` tells before each
 * piece how many milliseconds it may take.
 */
export async function* incomingBytes(
  request: IncomingMessage,
  silence: number | (() => number),
): AsyncGenerator<Uint8Array> {
  let timer: NodeJS.Timeout | undefined;
  let silenceMs = 0;
  const watch = () => {
    clearTimeout(timer);
    silenceMs = typeof silence === 'number' ? silence : silence();
    timer = setTimeout(() => {
      request.destroy(new WorkcellError('timed-out', `Nothing more of the upload came for ${silenceMs} ms.`));
    }, silenceMs);
  };
  try {
    watch();
    // A reader that has enough can still answer, and needs the connection for that.
    for await (const chunk of request.iterator({ destroyOnReturn: false })) {
      clearTimeout(timer);
      yield chunk;
      watch();
    }
  } catch (error) {
    if (WorkcellError.isInstance(error)) throw error;
    throw new WorkcellError(
      'cancelled',
      'The upload broke off before its end; the server kept nothing of it. Upload it again.',
      {
        cause: error,
      },
    );
  } finally {
    clearTimeout(timer);
    discard(request, silenceMs);
  }
}

/** An unread body blocks the next request on its connection, so read and drop it, for a limited time. */
function discard(request: IncomingMessage, limitMs: number): void {
  if (request.readableEnded || request.destroyed) return;
  const timer = setTimeout(() => request.destroy(), limitMs);
  request.once('close', () => clearTimeout(timer));
  request.resume();
}
