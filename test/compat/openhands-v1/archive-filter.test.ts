import { expect, test } from 'vitest';
import { createArchiveFilter } from '../../../src/compat/openhands-v1/files/archive-filter.js';

test.each([
  ['a/build', true, true],
  ['a/build', false, false],
  ['a/build/out.js', false, true],
  ['a/x.pyc', false, true],
  ['a/x.pyc/y', false, true],
  ['docs/private', false, true],
  ['docs/private/deep/er', false, true],
  ['a/docs/private', false, false],
  ['one/x', false, true],
  ['two/in', false, true],
  ['a/two/in', false, false],
  ['.git/config', false, true],
  ['a/.git/logs/HEAD', false, true],
  ['.git/modules/sub/config', false, true],
  ['.git/modules/sub/deep/FETCH_HEAD', false, true],
  ['.git/modules/config', false, false],
  ['.git/HEAD', false, false],
  ['config', false, false],
])('%s, a directory: %s, is left out: %s', (name, isDirectory, expected) => {
  const isExcluded = createArchiveFilter(['build/', '*.pyc', 'docs/private', '{one,two/in}']);
  expect(isExcluded(name, isDirectory)).toBe(expected);
});

test('a name as deep as can be costs no more than its length', () => {
  const isExcluded = createArchiveFilter([...'bcdefghijk'].map((name) => `${name}/`));
  const deep = 'a/'.repeat(2048);
  const repeated = '.git/modules/'.repeat(315);
  let excluded = 0;
  for (let index = 0; index < 50; index++)
    if (isExcluded(`${deep}${index}`, false) || isExcluded(`${repeated}${index}`, false)) excluded++;
  expect(excluded).toBe(0);
});
