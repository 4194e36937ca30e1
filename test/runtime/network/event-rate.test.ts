import { expect, test } from 'vitest';
import type { NetworkEvent } from '../../../src/protocol/index.js';
import { EventRate } from '../../../src/runtime/network/event-rate.js';

const event = (outcome: NetworkEvent['outcome']): NetworkEvent => ({
  outcome,
  host: 'a.test',
  port: 80,
  via: 'direct',
});

test('a flood of refusals is cut short, and hides no connection, question or failure', () => {
  const rate = new EventRate();
  const passed = (outcome: NetworkEvent['outcome'], count: number) =>
    Array.from({ length: count }, () => rate.pass(event(outcome))).filter((one) => one !== undefined).length;
  expect(passed('refused', 100_000)).toBeLessThan(50_000);
  expect([passed('asked', 1), passed('failed', 1)]).toEqual([1, 1]);
  expect([passed('opened', 5000), passed('closed', 5000)]).toEqual([5000, 5000]);
});
