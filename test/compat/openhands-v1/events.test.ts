import { expect, test } from 'vitest';
import {
  type BashCommand,
  BashEvents,
  type BashOutput,
} from '../../../src/compat/openhands-v1/bash/bash-events.js';
import { formatTimestamp, parseTimestamp } from '../../../src/compat/openhands-v1/bash/timestamps.js';

test('a talkative command loses its own oldest output, not that of others', () => {
  const events = new BashEvents({
    events: 1000,
    bytes: 1e9,
    perCommand: { events: 3, bytes: 1e9 },
  });
  const quiet = publishOutput(events, 'quiet', 0);
  for (let order = 0; order < 100; order++) publishOutput(events, 'talkative', order);
  expect(events.outputsOf('talkative').map(({ order }) => order)).toEqual([97, 98, 99]);
  expect(events.get(quiet.id)).toBe(quiet);
  expect(events.after(0)?.event).toBe(quiet);
  expect(events.after(1)?.event).toMatchObject({ order: 97 });
});

test('all together stay within their number and size', () => {
  const perCommand = { events: 1000, bytes: 1e9 };
  const few = new BashEvents({ events: 10, bytes: 1e9, perCommand });
  for (let index = 0; index < 100; index++) publishCommand(few, `${index}`);
  expect([...few.entries()].map(({ event }) => (event as BashCommand).command)).toEqual(
    Array.from({ length: 10 }, (_, index) => `${90 + index}`),
  );
  const small = new BashEvents({ events: 1000, bytes: 10_000, perCommand });
  for (let index = 0; index < 100; index++) publishCommand(small, 'x'.repeat(1000));
  expect([...small.entries()].length).toBeLessThan(10);
  const one = new BashEvents({ events: 1000, bytes: 10, perCommand });
  const kept = publishCommand(one, 'x'.repeat(1000));
  expect(one.get(kept.id)).toBe(kept);
});

test('timestamps grow with every event and read as they were written', () => {
  const events = new BashEvents();
  const stamps = Array.from({ length: 1000 }, () => publishCommand(events, '').timestamp);
  expect([...stamps].sort()).toEqual(stamps);
  expect(new Set(stamps).size).toBe(1000);
  for (const stamp of stamps) expect(formatTimestamp(parseTimestamp(stamp) ?? 0)).toBe(stamp);
});

test('points in time are read in the forms that clients send', () => {
  const expected = Date.UTC(2026, 7, 22, 10, 0, 0) * 1000 + 123_456;
  for (const text of [
    '2026-08-22T10:00:00.123456Z',
    '2026-08-22T10:00:00.123456',
    '2026-08-22 12:00:00.123456+02:00',
    '2026-08-22T12:00:00.123456 0200',
    '2026-08-22T10:00:00,123456789z',
  ])
    expect([text, parseTimestamp(text)]).toEqual([text, expected]);
  for (const text of ['', 'now', '2026-08-22', '2026-13-01T00:00:00Z'])
    expect(parseTimestamp(text)).toBeUndefined();
});

function publishCommand(events: BashEvents, command: string): BashCommand {
  return events.publish<BashCommand>(
    { kind: 'BashCommand', command, cwd: null, timeout: 1 },
    { bytes: command.length, drop() {} },
  );
}

function publishOutput(events: BashEvents, commandId: string, order: number): BashOutput {
  return events.publish<BashOutput>(
    { kind: 'BashOutput', command_id: commandId, order, exit_code: null, stdout: 'x', stderr: null },
    { bytes: 1, drop() {} },
  );
}
