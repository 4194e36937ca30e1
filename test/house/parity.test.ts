/** The table of what others have and where it is here: who claims that something works names the test that holds it. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { checkout, readText } from './source.js';

const rows = readText('docs/reference/parity.md')
  .split('\n')
  .filter((line) => line.startsWith('| '))
  .map((line) => line.slice(2, -2).split(' | '))
  .filter(([feature]) => feature !== 'feature');

test('every row has a state, and says what is missing where it is not there', () => {
  expect(rows.length).toBeGreaterThan(50);
  const odd = rows.filter(
    ([, , state = '', proof = '']) => !['works', 'partly', 'absent'].includes(state) || proof.trim() === '',
  );
  expect(odd).toEqual([]);
});

test('every test that a row of parts names is there', () => {
  const named = rows
    .filter(([, , state]) => state !== 'works')
    .flatMap(([, , , said = '']) => [...said.matchAll(/`(test\/[^`]+)`/g)].map(([, file = '']) => file));
  expect(named.length).toBeGreaterThan(5);
  expect(named.filter((file) => !existsSync(join(checkout, file)))).toEqual([]);
});

test('every row that claims to work names a test that is there', () => {
  const gone = rows
    .filter(([, , state]) => state === 'works')
    .filter(([, , , proof = '']) => {
      const [, file = '', title = ''] = /^`(test\/[^`]+)`: (.+)$/.exec(proof) ?? [];
      return title === '' || !existsSync(join(checkout, file)) || !readText(file).includes(title);
    });
  expect(gone).toEqual([]);
});
