/** Two streams as one connection. */
import type { Socket } from 'node:net';
import type { Duplex, Readable, Writable } from 'node:stream';
import { takePieces } from './large-reads.js';

/** Far longer than the pauses of a live connection: an unused one still counts against the limit of its cell. */
const idleMs = 3_600_000;

/** Ends a connection to a server when nothing has passed, either way, for an hour. */
export function endWhenIdle(upstream: Socket): void {
  upstream.setTimeout(idleMs, () => upstream.destroy(new Error('nothing passed for an hour')));
}

/** Told of bytes that pass from the cell or to it. Returns for how many milliseconds no more may pass. */
export type Meter = (direction: 'sent' | 'received', bytes: number) => number;

/** Carries bytes both ways, half-closed ends included. When one side breaks, so does the other. */
export function tie(program: Duplex, server: Duplex, meter: Meter): void {
  pass(program, server, (bytes) => meter('sent', bytes));
  pass(server, program, (bytes) => meter('received', bytes));
  endTogether(program, server);
}

/** Carries bytes one way, no faster than the other side takes them and than `meter` lets them. */
export function pass(
  from: Readable,
  to: Writable,
  meter: (bytes: number) => number,
  onEnd: () => void = () => to.end(),
): void {
  const { write, hold, release, holdUntilFree } = carrier(from, to, meter);
  from.on('data', (piece: Buffer) => write(piece));
  takePieces(from, (piece, done) => {
    // What came before is on its way first, and a read that Node began in spite of a pause waits like any other.
    if (from.readableLength > 0 || from.isPaused()) return false;
    write(piece, done);
    return true;
  });
  from.once('end', () => !to.destroyed && onEnd());
  hold();
  if (to.writableNeedDrain) {
    hold();
    to.once('drain', release);
  }
  // Others may have used up what may pass now: a new connection is no way around the limit.
  if (meter(0) > 0) holdUntilFree();
  release();
}

/** Writes pieces to `to`, and pauses `from` while it is full and while no more may pass. */
export function carrier(from: Readable, to: Writable, meter: (bytes: number) => number) {
  let holds = 0;
  const hold = () => {
    if (++holds === 1) from.pause();
  };
  const release = () => {
    if (--holds === 0 && !to.destroyed) from.resume();
  };
  const holdUntilFree = () => {
    hold();
    void whenFree(() => meter(0)).then(release);
  };
  const write = (piece: Buffer, done?: () => void) => {
    const ms = meter(piece.length);
    // What carries no more bytes may have been ended because of them.
    if (to.destroyed || from.destroyed) return done?.();
    const isFree = to.write(piece, done);
    if (to.writableLength === 0) done?.();
    if (!isFree) {
      hold();
      to.once('drain', release);
    }
    if (ms > 0) holdUntilFree();
  };
  return { write, hold, release, holdUntilFree };
}

/** Waits until a meter lets bytes pass. Other connections may be first, so ask it again. */
export async function whenFree(wait: () => number): Promise<void> {
  for (let ms = wait(); ms > 0; ms = wait())
    await new Promise<void>((resolve) => setTimeout(resolve, ms).unref());
}

/** The end of one ends the other. Bytes that one has sent before still arrive. */
export function endTogether(one: Duplex, other: Duplex): () => void {
  const stops = [follow(one, other), follow(other, one)];
  return () => {
    for (const stop of stops) stop();
  };
}

function follow(one: Duplex, other: Duplex): () => void {
  const onClose = () => {
    if (!one.readableEnded || other.writableFinished) return void other.destroy();
    other.once('finish', () => other.destroy());
    other.end();
  };
  if (one.destroyed) other.destroy();
  else one.once('close', onClose);
  return () => one.off('close', onClose);
}
