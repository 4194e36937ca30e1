/** Messages over two streams, each a JSON text that ends with a zero byte: how to talk to Chromium without a port. */
import type { Readable, Writable } from 'node:stream';
import { Turns } from '../../../base/turns.js';
import { parseUntrustedJson } from '../../../base/untrusted-json.js';
import { blame, catchDriverFaults } from './driver-faults.js';

/** The largest message. A page cannot make this side hold more, or take longer to read it. */
const bounds = { bytes: 32 * 1024 * 1024, values: 1_000_000, depth: 256 };

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
  const turns = new Turns(output, deliver);
  const release = catchDriverFaults();
  const pipe: MessagePipe = {
    send(message) {
      if (!closed) input.write(`${JSON.stringify(message)}\0`);
    },
    close: () => close(),
  };

  function close(reason?: string): void {
    if (closed) return;
    closed = true;
    turns.clear();
    input.destroy();
    output.destroy();
    pipe.onclose?.(reason);
    // The driver's closing message may still fail.
    setImmediate(release);
  }

  /** Calls back for each whole message; the rest waits for what comes next. */
  function take(chunk: Buffer): void {
    let from = 0;
    for (let end = chunk.indexOf(0); end !== -1 && !closed; end = chunk.indexOf(0, from)) {
      pieces.push(chunk.subarray(from, end));
      const bytes = pieces.length === 1 ? (pieces[0] as Buffer) : Buffer.concat(pieces);
      pieces = [];
      length = 0;
      from = end + 1;
      // What one message starts must be able to act before the next one arrives.
      turns.add(bytes);
    }
    if (from === chunk.length || closed) return;
    pieces.push(chunk.subarray(from));
    length += chunk.length - from;
    if (length > bounds.bytes) close(`The browser sent a message of more than ${bounds.bytes} bytes.`);
  }

  function deliver(bytes: Buffer): void {
    if (closed) return;
    try {
      const message = read(bytes);
      // The driver may find something in the message that a browser never says, and throw.
      blame((reason) => close(`The browser sent something that its driver does not take: ${reason}`));
      if (message !== undefined) pipe.onmessage?.(message);
    } catch (error) {
      close(
        `The browser sent something that is no message: ${error instanceof Error ? error.message : error}`,
      );
    }
  }

  input.on('error', () => close('The browser takes no more messages.'));
  output.on('data', take);
  output.once('error', () => close('The browser cannot be read from.'));
  output.once('close', () => void turns.whenEmpty().then(() => close('The browser ended.')));
  return pipe;
}

/** The message; a failure in its place when it is an answer that is too large, nothing when it is an event that is. */
function read(bytes: Buffer): object | undefined {
  try {
    const message = parseUntrustedJson(bytes, bounds);
    if (typeof message === 'object' && message !== null) return message;
  } catch (error) {
    if (error instanceof RangeError) return tooLarge(bytes, error.message);
    throw error;
  }
  throw new Error('It is no object.');
}

/** Chromium writes the number of the question first, and the session last. */
function tooLarge(bytes: Buffer, reason: string): object | undefined {
  const [, id] = /^\{"id":(\d{1,15}),/.exec(bytes.toString('latin1', 0, 64)) ?? [];
  const end = bytes.toString('latin1', Math.max(0, bytes.length - 128));
  const [, sessionId] = /"sessionId":"([0-9A-F]{32})"\}$/.exec(end) ?? [];
  if (id === undefined) return undefined;
  const error = { code: -32_000, message: `The answer of the browser is not taken. ${reason}` };
  return { id: Number(id), ...(sessionId === undefined ? {} : { sessionId }), error };
}
