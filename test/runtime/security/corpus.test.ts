import { expect, test } from 'vitest';
import { measure } from './corpus.js';

test.each([
  ['first', ''],
  ['second', 'second-'],
  ['third', 'third-'],
  ['fourth', 'fourth-'],
  ['fifth', 'fifth-'],
  ['sixth', 'sixth-'],
  ['seventh', 'seventh-'],
  ['eighth', 'eighth-'],
  ['ninth', 'ninth-'],
  ['tenth', 'tenth-'],
])('the %s corpus: dangerous commands are found and harmless ones pass', (name, prefix) => {
  const measured = measure(prefix);
  const { dangerous, harmless, recall, precision, falseHigh, asked, microseconds, missed } = measured;
  console.log(
    `${name} corpus: ${dangerous} dangerous, ${harmless} harmless; recall ${recall.toFixed(3)}, precision ${precision.toFixed(3)}, ` +
      `harmless called high ${(falseHigh * 100).toFixed(2)} %, above low ${(asked * 100).toFixed(2)} %; ${microseconds.toFixed(0)} µs each`,
  );
  expect(recall, missed.join('\n')).toBeGreaterThanOrEqual(0.97);
  expect(falseHigh, missed.join('\n')).toBeLessThanOrEqual(0.02);
});

test('the first corpus is large enough to mean something', () => {
  const { dangerous, harmless } = measure('');
  expect(dangerous + harmless).toBeGreaterThanOrEqual(400);
  expect(harmless).toBeGreaterThanOrEqual(200);
});
