import { afterEach, expect, test, vi } from 'vitest';
import { EventStream } from '../../src/runtime/events/stream.js';
import { withMarks } from '../../src/runtime/progress-marks.js';

afterEach(() => vi.useRealTimers());

test('progress is passed on whole, and marked in the stream at most once a second', async () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  const events = new EventStream('marked');
  const passed: unknown[] = [];
  const { onProgress } = withMarks({ onProgress: (progress) => passed.push(progress) }, events, 7);
  let sequence = 0;
  for (const advance of [0, 600, 600, 100, 100, 1000]) {
    vi.setSystemTime(Date.now() + advance);
    onProgress?.({ type: 'output-delta', stream: 'terminal', text: 'é', sequence });
    sequence += 2;
  }
  expect(passed).toHaveLength(6);
  await events.close();
  const marks = [];
  for await (const event of events) marks.push(event);
  expect(marks).toMatchObject([
    { kind: 'progress', cause: 7, progress: { pieces: 3, outputBytes: 6 } },
    { kind: 'progress', cause: 7, progress: { pieces: 6, outputBytes: 12 } },
  ]);
});
