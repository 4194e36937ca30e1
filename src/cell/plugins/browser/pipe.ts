/** Messages over two streams, each a JSON text that ends with a zero byte: how Chromium is spoken to without a port. */
import type { Readable, Writable } from 'node:stream';

/** The most that one message may be; a page cannot make this side hold more. */
const longestMessage = 128 * 1024 * 1024;

export interface MessagePipe {
  send(message: object): void;
  close(): void;
  onmessage?: (message: object) => void;
  onclose?: (reason?: string) => void;
}

export function openMessagePipe(input: Writable, output: Readable): MessagePipe {
  let pieces: Buffer[] = [];
  let length = 0;
  let closed = false;
  const pipe: MessagePipe = {
    send(message) {
      if (!closed) input.write(`${JSON.stringify(message)}\0`);
    },
    close: () => close(),
  };

  function close(reason?: string): void {
    if (closed) return;
    closed = true;
    input.destroy();
    output.destroy();
    pipe.onclose?.(reason);
  }

  /** Calls back for each whole message; the rest waits for what comes next. */
  function take(chunk: Buffer): void {
    let from = 0;
    for (let end = chunk.indexOf(0); end !== -1 && !closed; end = chunk.indexOf(0, from)) {
      pieces.push(chunk.subarray(from, end));
      const text = (pieces.length === 1 ? (pieces[0] as Buffer) : Buffer.concat(pieces)).toString();
      pieces = [];
      length = 0;
      from = end + 1;
      // Each in a turn of its own: what one message sets going must be able to act before the next one arrives.
      setImmediate(deliver, text);
    }
    if (from === chunk.length || closed) return;
    pieces.push(chunk.subarray(from));
    length += chunk.length - from;
    if (length > longestMessage) close(`The browser sent a message of more than ${longestMessage} bytes.`);
  }

  function deliver(text: string): void {
    if (closed) return;
    let message: unknown;
    try {
      message = JSON.parse(text);
    } catch {
      message = undefined;
    }
    if (typeof message === 'object' && message !== null) pipe.onmessage?.(message);
    else close('The browser sent something that is no message.');
  }

  input.on('error', () => close('The browser takes no more messages.'));
  output.on('data', take);
  output.once('error', () => close('The browser cannot be read from.'));
  output.once('close', () => close('The browser ended.'));
  return pipe;
}
