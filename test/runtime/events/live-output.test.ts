/** Output of actions under way, for those who watch. */
import { expect, test } from 'vitest';
import type { ExecuteContext } from '../../../src/protocol/index.js';
import { LiveOutput } from '../../../src/runtime/events/live-output.js';

function printer(output: LiveOutput, cause: number, context: ExecuteContext = {}) {
  const { onProgress } = output.tee(context, cause);
  return (text: string) => onProgress?.({ type: 'output-delta', stream: 'terminal', text, sequence: 0 });
}

test('a reader gets what came before and what comes, action by action, until the action ends', async () => {
  const output = new LiveOutput();
  const stop = new AbortController();
  const heard: string[] = [];
  const print = printer(output, 7, { onProgress: (progress) => void heard.push(progress.type) });
  await print('early ');
  const lines = output.watch(stop.signal);
  expect((await lines.next()).value).toEqual([{ kind: 'output', cause: 7, text: 'early ' }]);
  await print('late');
  await printer(output, 9)('other');
  expect((await lines.next()).value).toEqual([
    { kind: 'output', cause: 7, text: 'late' },
    { kind: 'output', cause: 9, text: 'other' },
  ]);
  expect(heard).toEqual(['output-delta', 'output-delta']);
  output.end(7);
  await print('after its end');
  await printer(output, 11)('next');
  expect((await lines.next()).value).toEqual([{ kind: 'output', cause: 11, text: 'next' }]);
  expect(output.watched).toBe(true);
  stop.abort();
  expect((await lines.next()).done).toBe(true);
  expect(output.watched).toBe(false);
});

test('much output costs little memory, and a reader hears how much it missed', async () => {
  const output = new LiveOutput();
  const print = printer(output, 1);
  for (let piece = 0; piece < 100_000; piece++) await print(`${piece}`.padStart(99, '.').concat('\n'));
  const lines = output.watch(new AbortController().signal);
  const [line] = (await lines.next()).value ?? [];
  expect(line?.text).toHaveLength(32 * 1024);
  expect(line?.text.endsWith('99999\n')).toBe(true);
  expect((line?.skipped ?? 0) + 32 * 1024).toBe(10_000_000);
  output.close();
  expect((await lines.next()).done).toBe(true);
});
