import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, describe, expect, test } from 'vitest';
import { OutputStore } from '../../../../src/cell/executor/output/output-store.js';
import { Spool, type SpoolLimits } from '../../../../src/cell/executor/output/spool.js';

const directory = mkdtempSync(join(tmpdir(), 'workcell-test-'));
let files = 0;
const nextFile = () => join(directory, `spool-${files++}`);
const broken = () => join(directory, 'no-such-directory', 'spool');

afterAll(() => rmSync(directory, { recursive: true, force: true }));

/** Sizes that straddle the memory limit and the edges of the ring. */
const chunkSizes = fc.array(
  fc.oneof(
    { weight: 3, arbitrary: fc.nat(700) },
    fc.nat(9000),
    fc.constantFrom(1, 65_535, 65_536, 65_537, 200_000),
  ),
  { maxLength: 40 },
);
const limits = fc.record({
  headBytes: fc.integer({ min: 1, max: 100_000 }),
  tailBytes: fc.integer({ min: 1, max: 100_000 }),
});

function fill(spool: Spool, sizes: readonly number[]): Buffer {
  const chunks = sizes.map((size, index) =>
    Buffer.from(Uint8Array.from({ length: size }, (_, at) => (at * 31 + index * 7) % 251)),
  );
  for (const chunk of chunks) spool.append(chunk);
  return Buffer.concat(chunks);
}

/** Reads from a position to the end in steps, and checks each against the written bytes. */
function check(
  spool: Spool,
  reference: Buffer,
  from: number,
  step: number,
  { headBytes, tailBytes }: SpoolLimits,
): void {
  const keeps = (position: number) =>
    reference.length <= 65_536 || position < headBytes || position >= reference.length - tailBytes;
  let position = from;
  while (position < reference.length) {
    const piece = spool.read(position, step);
    for (let skipped = position; skipped < piece.from; skipped++) {
      if (keeps(skipped)) throw new Error(`Position ${skipped} is skipped although it is kept.`);
    }
    expect(piece.data.length).toBeGreaterThan(0);
    expect(piece.data.length).toBeLessThanOrEqual(step);
    expect(piece.data.equals(reference.subarray(piece.from, piece.from + piece.data.length))).toBe(true);
    position = piece.from + piece.data.length;
  }
  expect(position).toBe(Math.max(from, reference.length));
}

describe('spool', () => {
  test('what is read equals what was written, however it came in pieces', () => {
    fc.assert(
      fc.property(
        chunkSizes,
        limits,
        fc.nat(300_000),
        fc.integer({ min: 500, max: 100_000 }),
        (sizes, limit, from, step) => {
          const spool = new Spool(nextFile, limit);
          try {
            const reference = fill(spool, sizes);
            expect(spool.totalBytes).toBe(reference.length);
            check(spool, reference, 0, step, limit);
            check(spool, reference, Math.min(from, reference.length), step, limit);
            expect(spool.read(reference.length + from, step).data.length).toBe(0);
          } finally {
            spool.dispose();
          }
        },
      ),
      { numRuns: 150 },
    );
  });

  test('a reader that keeps up misses nothing', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 5000 }), { maxLength: 60 }), (sizes) => {
        const spool = new Spool(nextFile, { headBytes: 1000, tailBytes: 6000 });
        let position = 0;
        for (const [index, size] of sizes.entries()) {
          spool.append(Buffer.alloc(size, index));
          for (let rest = size; rest > 0; ) {
            const { data, from } = spool.read(position, 4096);
            expect(from).toBe(position);
            expect(data.every((byte) => byte === index)).toBe(true);
            position += data.length;
            rest -= data.length;
          }
        }
        spool.dispose();
      }),
    );
  });

  test('without a disk the beginning and the end are kept in memory', () => {
    fc.assert(
      fc.property(chunkSizes, (sizes) => {
        const limit = { headBytes: 50_000, tailBytes: 80_000 };
        const spool = new Spool(broken, limit);
        const reference = fill(spool, sizes);
        const end = reference.length <= 65_536 ? 0 : Math.max(0, reference.length - limit.tailBytes);
        for (const start of [0, end]) {
          const { data, from } = spool.read(start, limit.tailBytes);
          if (start === end) expect(from).toBe(start);
          expect(data.equals(reference.subarray(from, from + data.length))).toBe(true);
          // A first read may end where the beginning does; the next one goes on there.
          const rest = spool.read(from + data.length, limit.tailBytes);
          if (start === end) expect(rest.from + rest.data.length).toBe(reference.length);
          expect(rest.data.equals(reference.subarray(rest.from, rest.from + rest.data.length))).toBe(true);
        }
      }),
      { numRuns: 50 },
    );
  });

  test.each([
    { where: 'on disk', file: nextFile },
    { where: 'in memory, without a disk', file: broken },
  ])('one read gives all of an output that nothing was dropped of, $where', ({ file }) => {
    const spool = new Spool(file, { headBytes: 70_000, tailBytes: 200_000 });
    const reference = fill(spool, [65_536, 65_536, 65_536, 3000]);
    expect(spool.read(0, 1_048_576).data.equals(reference)).toBe(true);
    expect(spool.read(65_000, 10_000).data.equals(reference.subarray(65_000, 75_000))).toBe(true);
    spool.append(Buffer.alloc(150_000, 1));
    expect(spool.read(0, 1_048_576).data.length).toBeLessThanOrEqual(70_000);
    spool.dispose();
  });

  test('no file is left in the directory', () => {
    const spool = new Spool(nextFile);
    spool.append(Buffer.alloc(200_000));
    expect(readdirSync(directory)).toEqual([]);
    spool.dispose();
    spool.append(Buffer.alloc(10));
    expect(spool.read(0, 10).data.length).toBe(0);
  });
});

describe('output store', () => {
  test('the oldest complete outputs are dropped, running ones never', () => {
    const store = new OutputStore(() => directory);
    const running = store.create(['terminal']);
    const ended = store.create(['terminal']);
    ended.complete = true;
    for (let index = 0; index < 256; index++) store.create(['terminal']).complete = true;
    expect(store.get(running.id)).toBe(running);
    expect(() => store.get(ended.id)).toThrow(expect.objectContaining({ code: 'output-not-found' }));
    store.close();
  });

  test('where the disk is full, ended outputs leave once all of them take too much memory', () => {
    const mebibyte = 1024 * 1024;
    const store = new OutputStore(() => join(directory, 'no-such-directory'));
    const outputs = Array.from({ length: 20 }, () => {
      const output = store.create(['terminal']);
      output.streams.terminal?.append(Buffer.alloc(100_000));
      output.complete = true;
      return output;
    });
    store.create(['terminal']);
    const isKept = outputs.map((output) => {
      try {
        return store.get(output.id) === output;
      } catch {
        return false;
      }
    });
    // Each holds 4 MiB, and all of them together at most 64 MiB.
    expect(isKept.filter(Boolean).length * 4 * mebibyte).toBe(64 * mebibyte);
    expect(isKept.lastIndexOf(false)).toBe(3);
    store.close();
  });
});
