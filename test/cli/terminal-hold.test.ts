/** What a cell prints cannot touch a question that is open on the same terminal. */
import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { openOutput } from '../../src/cli/command-output.js';
import { holdTerminal } from '../../src/cli/terminal-hold.js';

test('output of a cell waits while a question is open, and follows in order', async () => {
  const stream = Object.assign(new PassThrough(), { isTTY: true }) as unknown as NodeJS.WriteStream;
  const shown = () => String((stream as unknown as PassThrough).read() ?? '');
  const output = openOutput(() => {}, stream);
  const fresh: string[] = [];
  let answer = (_text: string) => {};
  const answered = new Promise<string>((resolve) => {
    answer = resolve;
  });
  const first = holdTerminal(
    () => answered,
    (text) => fresh.push(text),
  );
  const second = holdTerminal(
    async () => shown(),
    () => {},
  );
  const written = output.write({ text: '\x1b[2J\x1b[HAllow good.test?' });
  void output.write({ text: ' sure' });
  expect(written).toBeInstanceOf(Promise);
  expect(shown()).toBe('');
  answer('no');
  expect(await first).toBe('no');
  // The next question comes before what the cell printed meanwhile.
  expect(await second).toBe('');
  output.end();
  await written;
  expect(shown()).toBe('\x1b[2J\x1b[HAllow good.test? sure');
  expect(fresh).toEqual([expect.stringContaining('\x1b[0m')]);
});
