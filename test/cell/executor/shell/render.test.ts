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

test('the cursor goes no further than the screen, however far it is sent', async () => {
  expect(await shown('\x1b[999999999CX')).toBe(`${' '.repeat(79)}X`);
  expect(await shown('\x1b[H\x1b[999999999CX\x1b[999999999;999999999HY')).toBe(
    `${' '.repeat(79)}X\n${'\n'.repeat(22)}${' '.repeat(79)}Y`,
  );
  expect(await shown('ab\x1b[999999999Gc')).toBe(`ab${' '.repeat(77)}c`);
});

test.each([
  ['scrolls', '\x1b[2147483647S'],
  ['scrolls back', '\x1b[2147483647T'],
  ['inserts lines', '\x1b[2147483647L'],
  ['deletes lines', '\x1b[2147483647M'],
  ['inserts characters', '\x1b[2147483647@'],
  ['deletes characters', '\x1b[2147483647P'],
  ['erases characters', '\x1b[2147483647X'],
  ['moves over tabs', '\x1b[2147483647I'],
])('a sequence that %s without end is over when the screen is', async (_what, sequence) => {
  expect(await shown(`\x1b[H${`${sequence}`.repeat(1000)}\x1b[Hend`)).toBe('end');
});

test('a character that is repeated without end is repeated a bounded number of times', async () => {
  const text = await shown(`\x1b[Hx${'\x1b[2147483647b'.repeat(100_000)}`);
  expect(text.length).toBeLessThan(2_000_000);
});

// Each is quadratic for a renderer that moves, searches or copies what is behind it; the test times out then.
test.each([
  ['erase up to the cursor', `${'x'.repeat(500_000)}${'\x1b[1K'.repeat(100_000)}`],
  ['delete characters', `${'x'.repeat(500_000)}\r${'\x1b[P'.repeat(100_000)}`],
  ['erase characters', `${'x'.repeat(500_000)}\r${'\x1b[9999999X'.repeat(50_000)}`],
  ['broken sequences', '\x1b\x01'.repeat(400_000)],
  ['strings that never end', '\x1b]'.repeat(400_000)],
  ['device strings that never end', '\x1bP'.repeat(400_000)],
  ['sequences without an end', '\x1b[1;2'.repeat(200_000)],
  ['parameters without number', `\x1b[H\x1b[${'1;'.repeat(400_000)}H`],
  ['empty lines before a character', `\x1b[H${'\n'.repeat(500_000)}x`],
  ['switches of the screen', '\x1b[?1049h\x1b[?1049l'.repeat(50_000)],
  ['marks on one character', Buffer.from(`\x1b[Hx${'\u0301'.repeat(300_000)}`).toString('latin1')],
])('the time for many of them grows with their number only: %s', async (_what, raw) => {
  expect((await shown(raw)).length).toBeLessThanOrEqual(raw.length);
});

test('long output is rendered in slices, between which other things happen', async () => {
  let turns = 0;
  const counting = setInterval(() => turns++, 1);
  await shown(`\x1b[H${'\x1b[2Jx\r\n'.repeat(100_000)}`);
  clearInterval(counting);
  expect(turns).toBeGreaterThan(0);
});

test('control characters beyond ASCII vanish', async () => {
  expect(await shown(Buffer.from('a\u009b31mb\u0090c\r\n').toString('latin1'))).toBe('a31mbc\n');
});

test('a table drawn with lines, wide characters and colours is shown as it looks', async () => {
  const table =
    '\x1b[2J\x1b[H\x1b(0lqk\x1b(B\x1b[2;1H\x1b(0x\x1b(B日\x1b(0x\x1b(B\x1b[3;1He\u0301\x1b[31m!\x1b[0m\r\n';
  expect(await shown(Buffer.from(table).toString('latin1'))).toBe('┌─┐\n│日│\ne\u0301!\n');
});

test('a program that scrolls a part of the screen leaves the rest alone', async () => {
  expect(await shown('\x1b[Htop\r\na\r\nb\r\nc\r\nbottom\x1b[2;4r\x1b[4;1H\nd\x1b[r\x1b[6;1H')).toBe(
    'top\nb\nc\nd\nbottom\n',
  );
});

test('what scrolled off the top of a painted screen is part of what was seen', async () => {
  const lines = Array.from({ length: 100 }, (_, index) => `line ${index}`);
  expect(await shown(`\x1b[H\x1b[2J${lines.join('\r\n')}\r\n`)).toBe(`${lines.join('\n')}\n`);
});
