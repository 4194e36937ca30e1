import { expect, test } from 'vitest';
import { ProgressFolder } from '../../src/cli/progress-folder.js';
import { Sanitizer } from '../../src/cli/sanitize.js';

function folded(chunks: readonly string[]): string {
  const folder = new ProgressFolder();
  const sanitizer = new Sanitizer('plain');
  const shown = chunks.map((chunk) => folder.write(sanitizer.write(chunk))).join('');
  return shown + folder.write(sanitizer.end()) + folder.end();
}

test.each([
  ['a bar that ends its line', '10%\r50%\r100%\ndone\n', '100%\ndone\n'],
  ['a bar without an end', 'a\n10%\r100%', 'a\n100%'],
  ['a return that nothing follows', '10%\r100%\r', '100%'],
  ['line ends of a terminal', 'a\r\nb\r\n', 'a\nb\n'],
  ['a line that is erased first', '\x1b[1Gone\x1b[0K\x1b[1Gtwo\x1b[0K\r\n', 'two\n'],
  ['a spinner that goes', '-\x1b[2K\x1b[1Gdone\n', 'done\n'],
])('%s', (_what, printed, shown) => {
  expect(folded([printed])).toBe(shown);
  expect(folded([...printed])).toBe(shown);
});

test('a line without an end does not grow in memory', () => {
  const folder = new ProgressFolder();
  expect(folder.write('x'.repeat(10_000))).toBe('x'.repeat(10_000));
});
