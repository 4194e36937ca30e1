import { expect, test, vi } from 'vitest';
import { render } from '../../../../src/cell/executor/shell/render.js';

const size = { columns: 80, rows: 24 };
const shown = (raw: string) => render(Buffer.from(raw, 'latin1'), size);

test('plain text is itself, with terminal line ends made plain', async () => {
  expect(await shown('one\r\ntwo\tthree\r\n')).toBe('one\ntwo\tthree\n');
});

test('a progress bar that returns to the start of its line shows its last state', async () => {
  expect(await shown('10%\r50%\r100%\r\ndone\r\n')).toBe('100%\ndone\n');
});

test('a shorter rewrite leaves the rest of the line, erasing removes it', async () => {
  expect(await shown('hello\rJ\r\n')).toBe('Jello\n');
  expect(await shown('hello\r\x1b[KJ\r\n')).toBe('J\n');
  expect(await shown('hello\x1b[2K\rJ\r\n')).toBe('J\n');
});

test('backspaces take characters back', async () => {
  expect(await shown('abc\b\bX\r\n')).toBe('aXc\n');
});

test('colours, titles and hyperlinks vanish, their text stays', async () => {
  expect(
    await shown('\x1b[1;31mred\x1b[0m \x1b]0;title\x07\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\\r\n'),
  ).toBe('red link\n');
});

test('an escape sequence that never ends swallows nothing but itself', async () => {
  expect(await shown('before\x1b')).toBe('before');
  expect(await shown('line\r\n\x1b]0;never closed\r\nnext\r\n')).toContain('next');
});

test('invalid UTF-8 becomes replacement characters, NULs and bells vanish', async () => {
  expect(await shown('a\xff\xfeb\x00\x07c\r\n')).toBe('a\ufffd\ufffdbc\n');
});

test('multi-line progress that moves the cursor up is shown as the screen it leaves', async () => {
  expect(await shown('one 0%\r\ntwo 0%\r\n\x1b[2Aone 100%\r\ntwo 100%\r\n')).toBe('one 100%\ntwo 100%\n');
});

test('what was on the alternate screen is gone when the program left it', async () => {
  expect(await shown('before\r\n\x1b[?1049h\x1b[Hfull screen\x1b[?1049lafter\r\n')).toBe('before\nafter\n');
});

test('a long line is one line, however narrow the screen', async () => {
  const long = 'x'.repeat(500);
  expect(await shown(`\x1b[H${long}\r\nend\r\n`)).toBe(`${long}\nend\n`);
});

test('a binary blob on a painted screen does not reach the console of this process', async () => {
  const said = vi.spyOn(console, 'error').mockImplementation(() => {});
  await shown(`\x1b[2J\x1b[5A${String.fromCharCode(...Array(256).keys())}\x7f\n`);
  expect(said).not.toHaveBeenCalled();
  said.mockRestore();
});
