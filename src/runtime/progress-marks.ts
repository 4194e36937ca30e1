/** Marks in the stream that a long action is still running, seldom enough to cost nothing. */

import type { ExecuteContext, Progress } from '../protocol/index.js';
import type { EventStream } from './events/stream.js';

/** At most one mark in this time. */
const restMs = 1000;

/** The context with its progress marked in the stream, once there is some worth a mark. */
export function withMarks(context: ExecuteContext, events: EventStream, cause: number): ExecuteContext {
  const { onProgress } = context;
  let pieces = 0;
  let markedAt = Date.now();
  const mark = (progress: Progress) => {
    pieces++;
    const now = Date.now();
    if (now - markedAt < restMs) return;
    markedAt = now;
    const outputBytes =
      progress.type === 'output-delta' ? progress.sequence + Buffer.byteLength(progress.text) : 0;
    events.append({ kind: 'progress', cause, progress: { pieces, outputBytes } }, 'environment');
  };
  return {
    ...context,
    onProgress: (progress) => {
      mark(progress);
      return onProgress?.(progress);
    },
  };
}
