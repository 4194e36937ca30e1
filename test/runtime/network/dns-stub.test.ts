/** The DNS stub, with programs that do not behave. */
import { once } from 'node:events';
import { Duplex } from 'node:stream';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { CellNames } from '../../../src/runtime/network/cell-names.js';
import { DnsStub } from '../../../src/runtime/network/dns-stub.js';
import { question } from './open-gateway.js';

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
afterEach(() => void vi.useRealTimers());

const openStub = () => new DnsStub({ names: new CellNames(), exists: async () => true });

function framed(count: number): Buffer {
  const message = question('web.test');
  return Buffer.concat(
    Array.from({ length: count }, () => [Buffer.from([0, message.length]), message]).flat(),
  );
}

/** The end of a program that takes `reads` replies and no more. */
function openProgram(reads: number): { stream: Duplex; taken: () => number } {
  let taken = 0;
  const stream = new Duplex({
    read() {},
    write(_chunk, _encoding, done) {
      if (taken++ < reads) done();
    },
  });
  stream.on('error', () => {});
  return { stream, taken: () => taken };
}

test('replies that nobody reads are not piled up, and the stream ends', async () => {
  const { stream } = openProgram(0);
  const served = openStub().serve(stream);
  stream.push(framed(500));
  for (let turn = 0; turn < 100; turn++) await new Promise((resolve) => setImmediate(resolve));
  expect(stream.writableLength).toBeLessThan(100);
  const closed = once(stream, 'close');
  vi.advanceTimersByTime(30_000);
  await closed;
  await served.catch(() => {});
});

test('a stream has so many replies and no more', async () => {
  const { stream, taken } = openProgram(Infinity);
  const served = openStub().serve(stream);
  stream.push(framed(1200));
  await served;
  expect(taken()).toBe(1000);
  expect(stream.destroyed).toBe(true);
});

test('a cell has so many streams, and room again when one ends', async () => {
  const stub = openStub();
  const open = () => {
    const { stream } = openProgram(Infinity);
    const served = stub.serve(stream).catch(() => {});
    return { stream, served };
  };
  const [first, ...others] = Array.from({ length: 64 }, open);
  expect(open().stream.destroyed).toBe(true);
  expect(others.every(({ stream }) => !stream.destroyed)).toBe(true);
  first?.stream.destroy();
  await first?.served;
  expect(open().stream.destroyed).toBe(false);
});

test('a message longer than any question is not waited for', async () => {
  const { stream } = openProgram(Infinity);
  const served = openStub().serve(stream);
  stream.push(Buffer.from([255, 255, 0]));
  await served;
  expect(stream.destroyed).toBe(true);
});

test('names whose lookup does not end do not pile up', async () => {
  let held = 0;
  const exists = () => {
    held++;
    return new Promise<boolean>(() => {});
  };
  const stub = new DnsStub({ names: new CellNames(), exists });
  const codes: number[] = [];
  for (let index = 0; index < 5000; index++)
    void stub.reply(question(`n${index}.test`)).then((reply) => codes.push((reply?.[3] ?? 0) & 15));
  await new Promise((resolve) => setImmediate(resolve));
  expect(held).toBeLessThanOrEqual(512);
  // Programs ask a resolver that failed again later.
  expect(codes).toHaveLength(5000 - held);
  expect(new Set(codes)).toEqual(new Set([2]));
});
