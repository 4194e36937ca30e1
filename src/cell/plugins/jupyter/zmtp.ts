/**
 * ZeroMQ's transport protocol, ZMTP 3.0, as far as a client of a Jupyter kernel needs it: one connection, no
 * encryption, messages of several frames. Data from a kernel is untrusted, so skip frames beyond a limit instead of
 * keeping them.
 */
import type { Duplex } from 'node:stream';

/** A frame, or the size of one that was longer than the limit. */
export type Frame = Buffer | { readonly omittedBytes: number };

export interface ZmtpOptions {
  readonly type: 'DEALER' | 'SUB';
  /** The name under which the other side answers. */
  readonly identity?: string | undefined;
  /** The longest message to keep, all its frames together. */
  readonly limitBytes: number;
  readonly onMessage: (frames: Frame[]) => void;
  /** The connection is over; with an error when it was not this side that ended it. */
  readonly onEnd: (error?: Error) => void;
}

const more = 1;
const long = 2;
const command = 4;

/** A message with this many frames is not from a kernel. */
const mostFrames = 1024;

const greetingBytes = 64;

export class ZmtpConnection {
  /** Settles when the other side has introduced itself, too. */
  readonly ready: Promise<void>;

  readonly #stream: Duplex;
  readonly #options: ZmtpOptions;
  #introduced = (): void => {};
  #refused = (_error: Error): void => {};
  #pending: Buffer[] = [];
  #pendingBytes = 0;
  #greeted = false;
  #frames: Frame[] = [];
  #messageBytes = 0;
  /** The frame that we are skipping, and how much of it is still to come. */
  #skipping: { rest: number; flags: number; size: number } | undefined;
  #ended = false;

  constructor(stream: Duplex, options: ZmtpOptions) {
    this.#stream = stream;
    this.#options = options;
    this.ready = new Promise((resolve, reject) => {
      this.#introduced = resolve;
      this.#refused = reject;
    });
    // The caller that waits for it sees the failure; `onEnd` tells all others.
    this.ready.catch(() => {});
    stream.on('data', (chunk: Buffer) => this.#receive(chunk));
    stream.on('error', (error) => this.#end(error));
    stream.on('close', () => this.#end(new Error('The kernel closed the connection.')));
    stream.write(greeting());
    stream.write(introduction(options));
  }

  /** Only once it is ready. */
  send(frames: readonly Buffer[]): void {
    this.#stream.write(
      Buffer.concat(
        frames.flatMap((frame, index) => [
          frameHeader(frame.length, index < frames.length - 1 ? more : 0),
          frame,
        ]),
      ),
    );
  }

  /** Reads nothing more until `resume`. */
  pause(): void {
    this.#stream.pause();
  }

  resume(): void {
    this.#stream.resume();
  }

  close(): void {
    this.#ended = true;
    this.#stream.destroy();
  }

  #receive(chunk: Buffer): void {
    if (this.#ended) return;
    try {
      this.#pending.push(chunk);
      this.#pendingBytes += chunk.length;
      while (!this.#ended && this.#step());
    } catch (error) {
      this.#end(error as Error);
    }
  }

  /** Takes one item from the data that has arrived; false when it needs more. */
  #step(): boolean {
    if (!this.#greeted) {
      if (this.#pendingBytes < greetingBytes) return false;
      checkGreeting(this.#take(greetingBytes));
      this.#greeted = true;
      return true;
    }
    return this.#skipping === undefined ? this.#readFrame() : this.#skip(this.#skipping);
  }

  #readFrame(): boolean {
    if (this.#pendingBytes < 2) return false;
    const start = this.#peek(9);
    const flags = start[0] as number;
    if (flags > 7) throw new Error(`The kernel sent a frame with unknown flags ${flags}.`);
    const isLong = (flags & long) !== 0;
    if (isLong && start.length < 9) return false;
    const size = isLong ? Number(start.readBigUInt64BE(1)) : (start[1] as number);
    const head = isLong ? 9 : 2;
    const limit = this.#options.limitBytes - this.#messageBytes;
    if (size > limit) {
      this.#take(head);
      this.#skipping = { rest: size, flags, size };
      return true;
    }
    if (this.#pendingBytes < head + size) return false;
    this.#take(head);
    this.#messageBytes += size;
    this.#accept(flags, this.#take(size));
    return true;
  }

  #skip(frame: { rest: number; flags: number; size: number }): boolean {
    const size = Math.min(frame.rest, this.#pendingBytes);
    this.#take(size);
    frame.rest -= size;
    if (frame.rest > 0) return false;
    this.#skipping = undefined;
    this.#accept(frame.flags, { omittedBytes: frame.size });
    return true;
  }

  #accept(flags: number, frame: Frame): void {
    if ((flags & command) !== 0) {
      this.#messageBytes = 0;
      if (Buffer.isBuffer(frame)) this.#command(frame);
      return;
    }
    this.#frames.push(frame);
    if (this.#frames.length > mostFrames) throw new Error('The kernel sent a message of too many frames.');
    if ((flags & more) !== 0) return;
    const frames = this.#frames;
    this.#frames = [];
    this.#messageBytes = 0;
    this.#options.onMessage(frames);
  }

  #command(body: Buffer): void {
    const name = body.toString('latin1', 1, 1 + (body[0] ?? 0));
    if (name === 'READY') {
      // A subscription to everything is a message that begins with a one, and none may come before this.
      if (this.#options.type === 'SUB') this.send([Buffer.of(1)]);
      this.#introduced();
    } else if (name === 'ERROR') throw new Error('The kernel refused the connection.');
  }

  #peek(size: number): Buffer {
    const first = this.#pending[0] as Buffer;
    if (first.length >= size || this.#pending.length === 1) return first.subarray(0, size);
    return Buffer.concat(this.#pending.slice(0, size)).subarray(0, size);
  }

  #take(size: number): Buffer {
    if (size === 0) return Buffer.alloc(0);
    this.#pendingBytes -= size;
    const first = this.#pending[0] as Buffer;
    if (first.length > size) {
      this.#pending[0] = first.subarray(size);
      return first.subarray(0, size);
    }
    const pieces: Buffer[] = [];
    let missing = size;
    let count = 0;
    for (const piece of this.#pending) {
      if (missing === 0) break;
      if (piece.length > missing) {
        pieces.push(piece.subarray(0, missing));
        this.#pending[count] = piece.subarray(missing);
        missing = 0;
        break;
      }
      pieces.push(piece);
      missing -= piece.length;
      count++;
    }
    this.#pending.splice(0, count);
    return pieces.length === 1 ? (pieces[0] as Buffer) : Buffer.concat(pieces);
  }

  #end(error: Error): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#stream.destroy();
    this.#refused(error);
    this.#options.onEnd(error);
  }
}

function greeting(): Buffer {
  const bytes = Buffer.alloc(greetingBytes);
  bytes[0] = 0xff;
  bytes[9] = 0x7f;
  bytes[10] = 3;
  bytes.write('NULL', 12, 'latin1');
  return bytes;
}

function checkGreeting(bytes: Buffer): void {
  const speaks = bytes[0] === 0xff && bytes[9] === 0x7f && (bytes[10] as number) >= 3;
  const plain = bytes.toString('latin1', 12, 32).replace(/\0+$/, '') === 'NULL';
  if (!speaks || !plain) throw new Error('What listens there does not speak ZeroMQ 3.');
}

function introduction({ type, identity }: ZmtpOptions): Buffer {
  const body = Buffer.concat([
    shortText('READY'),
    property('Socket-Type', type),
    ...(identity === undefined ? [] : [property('Identity', identity)]),
  ]);
  return Buffer.concat([frameHeader(body.length, command), body]);
}

function property(name: string, value: string): Buffer {
  const size = Buffer.alloc(4);
  size.writeUInt32BE(Buffer.byteLength(value));
  return Buffer.concat([shortText(name), size, Buffer.from(value)]);
}

function shortText(text: string): Buffer {
  return Buffer.concat([Buffer.of(text.length), Buffer.from(text, 'latin1')]);
}

function frameHeader(size: number, flags: number): Buffer {
  if (size < 256) return Buffer.of(flags, size);
  const header = Buffer.alloc(9);
  header[0] = flags | long;
  header.writeBigUInt64BE(BigInt(size), 1);
  return header;
}
