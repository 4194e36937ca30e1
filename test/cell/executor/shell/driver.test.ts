import { execFileSync } from 'node:child_process';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { quote } from '../../../../src/base/shell-quote.js';
import { findReport } from '../../../../src/cell/executor/shell/driver.js';
import { toKeystrokes } from '../../../../src/cell/executor/shell/keys.js';
import { unquote } from '../../../../src/cell/executor/shell/unquote.js';

const name = '0123456789abcdef';
const report = Buffer.from(`\x1b]7777;${name}.3;7;0;/tmp\r\n\x07`, 'latin1');

test('bash reads back every word that quote wrote', () => {
  fc.assert(
    fc.property(
      fc.array(
        fc.string({ unit: 'binary' }).filter((text) => !text.includes('\0')),
        { minLength: 1, maxLength: 50 },
      ),
      (words) => {
        const source = `printf '%s\\0' ${words.map(quote).join(' ')}`;
        const printed = execFileSync('bash', ['-c', source]).toString();
        expect(printed).toBe(words.map((word) => `${word}\0`).join(''));
      },
    ),
    { numRuns: 50 },
  );
});

test('unquote reads back every word that bash wrote with %q, in UTF-8 and in the C locale', () => {
  for (const LC_ALL of ['C', 'C.UTF-8']) {
    fc.assert(
      fc.property(
        fc.array(
          fc.string({ unit: 'binary' }).filter((text) => !text.includes('\0')),
          { minLength: 1, maxLength: 50 },
        ),
        (words) => {
          const printed = execFileSync('bash', ['-c', 'printf "%q\\0" "$@"', 'bash', ...words], {
            env: { ...process.env, LC_ALL },
          });
          const parts = splitAtNul(printed);
          expect(parts.map(unquote)).toEqual(words);
        },
      ),
      { numRuns: 50 },
    );
  }
});

test('a report is found behind any output, wherever the chunks are cut', () => {
  fc.assert(
    fc.property(
      fc.uint8Array({ maxLength: 200 }),
      fc.array(fc.nat(260), { maxLength: 5 }),
      (output, cuts) => {
        const stream = Buffer.concat([output, report]);
        const points = [...new Set([0, ...cuts.filter((cut) => cut < stream.length), stream.length])].sort(
          (a, b) => a - b,
        );
        const seen: Buffer[] = [];
        let held = Buffer.alloc(0);
        let exitCode: number | undefined;
        points.slice(1).forEach((end, index) => {
          const data = Buffer.concat([held, stream.subarray(points[index], end)]);
          const found = findReport(data, name);
          const visible = found.kind === 'none' ? found.safe : found.start;
          seen.push(data.subarray(0, visible));
          held = data.subarray(found.kind === 'none' ? found.safe : found.end);
          if (found.kind === 'report') exitCode = found.report.exitCode;
        });
        expect(Buffer.concat(seen)).toEqual(Buffer.from(output));
        expect(exitCode).toBe(7);
      },
    ),
    { numRuns: 2000 },
  );
});

test('a report with another name is output', () => {
  const forged = Buffer.from('\x1b]7777;ffffffffffffffff.3;0;0;/\r\n\x07', 'latin1');
  expect(findReport(forged, name)).toEqual({ kind: 'none', safe: forged.length });
});

test('keys are sent as themselves, other text as a line', () => {
  expect(toKeystrokes('C-c')).toBe('\x03');
  expect(toKeystrokes('C-d')).toBe('\x04');
  expect(toKeystrokes('C-Z')).toBe('\x1a');
  expect(toKeystrokes('Up')).toBe('\x1b[A');
  expect(toKeystrokes('yes')).toBe('yes\n');
  expect(toKeystrokes('C-cc')).toBe('C-cc\n');
});

function splitAtNul(data: Buffer): Buffer[] {
  const parts: Buffer[] = [];
  for (let start = 0, end = data.indexOf(0); end !== -1; start = end + 1, end = data.indexOf(0, start))
    parts.push(data.subarray(start, end));
  return parts;
}
