/** Two streams as one connection. */
import type { Duplex } from 'node:stream';

/** Carries bytes both ways, half-closed ends included. When one side breaks, so does the other. */
export function tie(one: Duplex, other: Duplex): void {
  one.pipe(other);
  other.pipe(one);
  endTogether(one, other);
}

/** The end of one is that of the other. What one has sent before still arrives. */
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
