/** Two streams as one connection. */
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';

/** Far longer than the pauses of a live connection: an unused one still counts against the limit of its cell. */
const idleMs = 3_600_000;

/** Ends a connection to a server when nothing has passed, either way, for an hour. */
export function endWhenIdle(upstream: Socket): void {
  upstream.setTimeout(idleMs, () => upstream.destroy(new Error('nothing passed for an hour')));
}

/** Carries bytes both ways, half-closed ends included. When one side breaks, so does the other. */
export function tie(one: Duplex, other: Duplex): void {
  one.pipe(other);
  other.pipe(one);
  endTogether(one, other);
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
