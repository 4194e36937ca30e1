/** Limits answers of an MCP server over HTTP to what the client can parse without stopping this process. */
import type { Transformer } from 'node:stream/web';
import { checkJsonBounds, usualBounds } from '../../../base/untrusted-json.js';

const newline = 0x0a;
/** Lines of an event stream that come in a second, however short they are. */
const mostLines = 10_000;

/** The same answer, whose body fails where it goes beyond the bounds. */
export function boundAnswer(answer: Response): Response {
  if (answer.body === null) return answer;
  const isEvents = answer.headers.get('content-type')?.includes('text/event-stream') === true;
  const body = answer.body.pipeThrough(new TransformStream(isEvents ? eventBounds() : wholeBounds()));
  const { status, statusText, headers } = answer;
  const bounded = new Response(body, { status, statusText, headers });
  Object.defineProperty(bounded, 'url', { value: answer.url });
  return bounded;
}

/** Passes on a body that is one message when all of it has arrived. */
function wholeBounds(): Transformer<Uint8Array, Uint8Array> {
  const kept = new Pieces();
  return {
    transform: (chunk) => kept.add(chunk),
    flush(controller) {
      const whole = kept.take();
      checkJsonBounds(whole);
      controller.enqueue(whole);
    },
  };
}

/** Passes on events line by line; a message is the data of one line. */
function eventBounds(): Transformer<Uint8Array, Uint8Array> {
  const kept = new Pieces();
  let lines = 0;
  let countedFrom = performance.now();
  return {
    transform(chunk, controller) {
      if (performance.now() - countedFrom > 1000) {
        countedFrom = performance.now();
        lines = 0;
      }
      let from = 0;
      for (let end = chunk.indexOf(newline); end !== -1; end = chunk.indexOf(newline, from)) {
        kept.add(chunk.subarray(from, end + 1));
        from = end + 1;
        if (++lines > mostLines) throw new RangeError(`It sends more than ${mostLines} lines in a second.`);
        const line = kept.take();
        checkJsonBounds(line);
        controller.enqueue(line);
      }
      kept.add(chunk.subarray(from));
    },
    flush: (controller) => controller.enqueue(kept.take()),
  };
}

class Pieces {
  #pieces: Uint8Array[] = [];
  #length = 0;

  add(piece: Uint8Array): void {
    this.#pieces.push(piece);
    this.#length += piece.length;
    if (this.#length > usualBounds.bytes)
      throw new RangeError(`A message has more than ${usualBounds.bytes} bytes, which is the limit.`);
  }

  take(): Buffer<ArrayBuffer> {
    const whole = Buffer.concat(this.#pieces);
    this.#pieces = [];
    this.#length = 0;
    return whole;
  }
}
