import type { IncomingMessage } from 'node:http';
import { WorkcellError } from '../../protocol/index.js';

/** The body of a request as it comes. A sender that goes silent, or away, ends it with an error. */
export async function* incomingBytes(
  request: IncomingMessage,
  silenceMs: number,
): AsyncGenerator<Uint8Array> {
  let timer: NodeJS.Timeout | undefined;
  const watch = () => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      request.destroy(new WorkcellError('timed-out', `Nothing more of the upload came for ${silenceMs} ms.`));
    }, silenceMs);
  };
  try {
    watch();
    for await (const chunk of request as AsyncIterable<Uint8Array>) {
      clearTimeout(timer);
      yield chunk;
      watch();
    }
  } catch (error) {
    if (WorkcellError.isInstance(error)) throw error;
    throw new WorkcellError('cancelled', 'The upload broke off before its end; nothing of it was kept.', {
      cause: error,
    });
  } finally {
    clearTimeout(timer);
  }
}
