/** A clock cannot hold a bar on a busy machine; a count of instructions can. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { countInstructions } from '../../bench/instructions/count.js';

/** What another version of Node, or of a library, may change. A part that does its work twice goes far beyond. */
const tolerance = 0.05;

test('the pure parts take as many instructions as are written down, next to work that nobody changes', async () => {
  const kept = JSON.parse(
    readFileSync(new URL('../../bench/instructions/counts.json', import.meta.url), 'utf8'),
  ) as Record<string, number>;
  const { reference, ...counts } = await countInstructions();
  const changed = Object.entries(counts).flatMap(([name, count]) => {
    const share = count / reference;
    const change = share / (kept[name] ?? Number.NaN) - 1;
    return Math.abs(change) <= tolerance
      ? []
      : [`${name}: ${share.toFixed(3)} of the reference in place of ${kept[name]}`];
  });
  // Less is good news: write it down in bench/instructions/counts.json, so that it stays.
  expect(changed).toEqual([]);
});
