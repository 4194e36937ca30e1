import { expect, test } from 'vitest';
import type { WorkcellEvent } from '../../../src/protocol/index.js';
import { EventStream } from '../../../src/runtime/events/stream.js';

const action = (command: string) => ({ kind: 'action' as const, action: { action: 'run', command } });

async function all(stream: EventStream, cursor = 0): Promise<WorkcellEvent[]> {
  stream.close();
  const events: WorkcellEvent[] = [];
  for await (const event of stream.since(cursor)) events.push(event);
  return events;
}

test('events are numbered without gaps and replayed from a cursor', async () => {
  const stream = new EventStream('r');
  for (const command of ['a', 'b', 'c']) stream.append(action(command), 'agent');
  expect((await all(stream, 1)).map((event) => event.id)).toEqual([2, 3]);
});

test('a subscriber gets what is appended while it waits', async () => {
  const stream = new EventStream('r');
  const iterator = stream[Symbol.asyncIterator]();
  const first = iterator.next();
  stream.append(action('a'), 'agent');
  expect((await first).value).toMatchObject({ id: 1, source: 'agent' });
  const second = iterator.next();
  stream.close();
  expect(await second).toEqual({ value: undefined, done: true });
});

test('the oldest events are dropped beyond a number, and a subscriber goes on behind them', async () => {
  const stream = new EventStream('r');
  for (let index = 0; index < 5000; index++) stream.append(action('a'), 'agent');
  const events = await all(stream);
  expect(events.length).toBeGreaterThanOrEqual(1000);
  expect(events.length).toBeLessThan(2000);
  expect(events.at(-1)?.id).toBe(5000);
});

test('long outputs count by their size', async () => {
  const stream = new EventStream('r');
  const text = 'x'.repeat(4 * 1024 * 1024);
  for (let index = 0; index < 50; index++) stream.append(action(text), 'agent');
  expect((await all(stream)).length).toBeLessThanOrEqual(8);
});
