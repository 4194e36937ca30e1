/** A clock cannot hold a bar on a busy machine; a count of instructions can. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { countInstructions } from '../../bench/instructions/count.js';

/** What another release of Node, or of a library, may change. A part that does its work twice goes far beyond. */
const tolerance = 0.05;

interface Kept {
  /** Where these were counted: each version of Node has other instructions for the same work, and so has each processor. */
  readonly node: number;
  readonly architecture: string;
  readonly shares: Readonly<Record<string, number>>;
}

test('the pure parts take no more instructions than are written down, next to work that nobody changes', async () => {
  const file = new URL('../../bench/instructions/counts.json', import.meta.url);
  const kept = JSON.parse(readFileSync(file, 'utf8')) as Kept;
  const { reference, ...counts } = await countInstructions();
  const shares = Object.entries(counts).map(([name, count]) => [name, count / reference] as const);
  expect(shares.map(([name]) => name).sort()).toEqual(Object.keys(kept.shares).sort());
  const [here = ''] = process.versions.node.split('.');
  if (kept.node !== Number(here) || kept.architecture !== process.arch) {
    console.warn(
      `Only counted, not compared: counts.json is of Node ${kept.node} on ${kept.architecture}, and this is Node ${here} on ${process.arch}. Run the test with that Node, or write down what bench/instructions/count.ts prints here, divided by its reference.`,
    );
    return;
  }
  const change = (name: string, share: number) => share / (kept.shares[name] ?? Number.NaN) - 1;
  const told = ([name, share]: readonly [string, number]) =>
    `${name}: ${share.toPrecision(4)} of the reference in place of ${kept.shares[name]}`;
  const less = shares.filter(([name, share]) => change(name, share) < -tolerance).map(told);
  if (less.length > 0) console.warn(`Write down in bench/instructions/counts.json: ${less.join('; ')}`);
  expect(shares.filter(([name, share]) => !(change(name, share) <= tolerance)).map(told)).toEqual([]);
});
