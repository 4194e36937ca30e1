import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Journal } from '../../../src/cell/server/journal.js';

const mebibyte = 1024 * 1024;

test('whatever was appended is read back from any position, wherever it is kept', () => {
  const folder = mkdtempSync(join(tmpdir(), 'journal-'));
  let files = 0;
  const sizes = fc.array(
    fc.oneof(fc.integer({ min: 1, max: 300 }), fc.integer({ min: 60_000, max: 400_000 })),
    { maxLength: 40 },
  );
  fc.assert(
    fc.property(
      sizes,
      fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 8 }),
      (lengths, places) => {
        const journal = new Journal(() => join(folder, `file-${files++}`));
        const all = Buffer.concat(
          lengths.map((length, index) => {
            const line = 'aé✓😀'.repeat(length / 10 + index).slice(0, length);
            journal.append(line);
            return Buffer.from(line);
          }),
        );
        expect(journal.totalBytes).toBe(all.length);
        for (const place of [0, 1, ...places]) {
          const start = Math.floor(place * all.length);
          expect(readAll(journal, start)?.equals(all.subarray(start))).toBe(true);
        }
        journal.dispose();
      },
    ),
    { numRuns: 60 },
  );
  rmSync(folder, { recursive: true });
});

test('a line that is too long for memory stays behind those before it', () => {
  const folder = mkdtempSync(join(tmpdir(), 'journal-'));
  let files = 0;
  for (const size of [500_000, 530_000, 700_000, 800_000, 2_000_000]) {
    const journal = new Journal(() => join(folder, `file-${files++}`));
    const lines = ['first\n', 'x'.repeat(size), 'last\n'];
    for (const line of lines) journal.append(line);
    expect(readAll(journal, 0)?.toString()).toBe(lines.join(''));
    journal.dispose();
  }
  rmSync(folder, { recursive: true });
});

test('the oldest are dropped beyond 16 MiB, and reading them says so', () => {
  const folder = mkdtempSync(join(tmpdir(), 'journal-'));
  const journal = new Journal(() => join(folder, 'file'));
  for (let index = 0; index < 40; index++) journal.append(letters(index));
  expect(journal.read(0)).toBeUndefined();
  expect(journal.read(30 * mebibyte)?.toString('latin1', 0, 1)).toBe(letters(30)[0]);
  expect(readAll(journal, 39 * mebibyte)?.equals(Buffer.from(letters(39)))).toBe(true);
  journal.dispose();
  rmSync(folder, { recursive: true });
});

test('a full disk costs the oldest, never what a reader is about to take', () => {
  const journal = new Journal(() => '/dev/full/impossible');
  for (let index = 0; index < 10; index++) journal.append(letters(index));
  expect(journal.read(9 * mebibyte)?.toString('latin1', 0, 1)).toBe(letters(9)[0]);
  expect(journal.read(8 * mebibyte)?.toString('latin1', 0, 1)).toBe(letters(8)[0]);
});

function letters(index: number): string {
  return String.fromCharCode(64 + index).repeat(mebibyte);
}

function readAll(journal: Journal, start: number): Buffer | undefined {
  const pieces: Buffer[] = [];
  let position = start;
  while (position < journal.totalBytes) {
    const piece = journal.read(position);
    if (piece === undefined || piece.length === 0) return undefined;
    pieces.push(piece);
    position += piece.length;
  }
  return Buffer.concat(pieces);
}
