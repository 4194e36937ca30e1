import { expect, test } from 'vitest';
import { readText } from '../../house/source.js';
import { corpora, labelled, measure } from './corpus.js';

test.each(corpora)('%s: dangerous commands are found and harmless ones pass', (name) => {
  const measured = measure(name);
  const { dangerous, harmless, recall, precision, falseHigh, asked, microseconds, missed } = measured;
  console.log(
    `${name}: ${dangerous} dangerous, ${harmless} harmless; recall ${recall.toFixed(3)}, precision ${precision.toFixed(3)}, ` +
      `harmless called high ${(falseHigh * 100).toFixed(2)} %, above low ${(asked * 100).toFixed(2)} %; ${microseconds.toFixed(0)} µs each`,
  );
  expect(recall, missed.join('\n')).toBeGreaterThanOrEqual(0.97);
  expect(falseHigh, missed.join('\n')).toBeLessThanOrEqual(0.02);
  const found = dangerous === 0 ? '–' : recall.toFixed(3);
  const high = Math.round(falseHigh * harmless);
  expect(readText('docs/guides/security.md')).toContain(
    `| \`${name}\` | ${dangerous} | ${harmless} | ${found} | ${high} | ${(asked * 100).toFixed(1)} % |`,
  );
});

test('the corpora are large enough to mean something', () => {
  const lines = corpora.flatMap(labelled);
  const harmless = lines.filter(({ label }) => label === 'low').length;
  expect(harmless).toBeGreaterThanOrEqual(2000);
  expect(lines.length - harmless).toBeGreaterThanOrEqual(2000);
});
