import { execFileSync } from 'node:child_process';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { quote } from '../../../../src/base/shell-quote.js';
import { commandMessage, findReport } from '../../../../src/cell/executor/shell/driver.js';
import { toKeystrokes } from '../../../../src/cell/executor/shell/keystrokes.js';
import { unquote } from '../../../../src/cell/executor/shell/unquote.js';

const token = '0123456789-_abcd';
const before = 'ABCDEFGHIJKLMNOP';
const report = Buffer.from(`\x1b]7777;${token};7;0;/tmp\x07\r\n`, 'latin1');

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
          const found = findReport(data, [token, before]);
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

test('what has no token of the shell, or says nothing that a shell reports, is output', () => {
  for (const text of [
    '\x1b]7777;ffffffffffffffff;0;0;/\x07\r\n',
    '\x1b]7777;left\x07',
    '\x1b]7777;exit;/\x07',
    `\x1b]7777;${token};nonsense\x07`,
    `\x1b]7777;${token.slice(0, -1)};0;0;/\x07\r\n`,
  ]) {
    const forged = Buffer.from(text, 'latin1');
    expect(findReport(forged, [token, before])).toEqual({ kind: 'none', safe: forged.length });
  }
});

test('a report of the command before, and of a shell that leaves, is told from others', () => {
  const find = (body: string) =>
    findReport(Buffer.from(`\x1b]7777;${before};${body}\x07\n`), [token, before]);
  expect(find('3;0;/tmp')).toMatchObject({ report: { token: before, exitCode: 3, rawTerminal: true } });
  expect(find('left')).toMatchObject({ kind: 'left' });
  expect(find("exit;$'/a\\nb'")).toMatchObject({ kind: 'exit', cwd: '/a\nb' });
});

test('only what may become a report is held back', () => {
  const safe = (text: string) => findReport(Buffer.from(text, 'latin1'), [token, before]);
  expect(safe('abc\x1b]77')).toEqual({ kind: 'none', safe: 3 });
  expect(safe(`abc\x1b]7777;${token.slice(0, 5)}`)).toEqual({ kind: 'none', safe: 3 });
  expect(safe(`abc\x1b]7777;${token};0;0;/tmp`)).toEqual({ kind: 'none', safe: 3 });
  expect(safe(`abc\x1b]7777;${token};0;0;/tmp\x07\r`)).toEqual({ kind: 'none', safe: 3 });
  expect(safe('abc\x1b]7777;zzz')).toEqual({ kind: 'none', safe: 13 });
  const endless = `\x1b]7777;${token};${'x'.repeat(40_000)}`;
  expect(safe(endless)).toEqual({ kind: 'none', safe: endless.length });
});

test('bash takes every command from its channel as it was written, in any locale', () => {
  const program = `while read -r -N 20 header; do read -r -N "$((10#\${header:10:9}))" message; __workcell_after=; eval "$message"
    printf '%s\\0' "\${header:0:9}" "$__workcell_number" "$__workcell_token" "$__workcell_command" "$__workcell_after"; done`;
  for (const LC_ALL of ['C', 'C.UTF-8']) {
    fc.assert(
      fc.property(
        fc.array(
          fc.string({ unit: 'binary' }).filter((text) => !text.includes('\0')),
          { minLength: 1, maxLength: 50 },
        ),
        (sources) => {
          const messages = sources.map((source, index) =>
            commandMessage(index, token, { source, before: '', after: source }),
          );
          const input = messages.join('');
          const printed = execFileSync('bash', ['-c', program], { input, env: { ...process.env, LC_ALL } });
          const expected = sources.flatMap((source, index) => [
            String(index).padStart(9, '0'),
            String(index),
            token,
            source,
            source,
          ]);
          expect(splitAtNul(printed).map(String)).toEqual(expected);
        },
      ),
      { numRuns: 20 },
    );
  }
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
