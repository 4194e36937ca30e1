import { expect, test } from 'vitest';
import { mergeManifest } from '../../../src/backends/kubernetes/merge-manifest.js';

test.each([
  ['what only one has stays', { a: 1 }, { b: 2 }, { a: 1, b: 2 }],
  [
    'ours counts where both say something',
    { a: 1, deep: { x: true } },
    { a: 2, deep: { x: false } },
    { a: 2, deep: { x: false } },
  ],
  ['lists are joined', { list: [1] }, { list: [2] }, { list: [1, 2] }],
  [
    'items are merged by name',
    { list: [{ name: 'cell', a: 1, b: 1 }, { name: 'sidecar' }] },
    { list: [{ name: 'first' }, { name: 'cell', b: 2 }] },
    { list: [{ name: 'cell', a: 1, b: 2 }, { name: 'sidecar' }, { name: 'first' }] },
  ],
  [
    'mounts are merged by path',
    { list: [{ name: 'own', mountPath: '/tmp' }] },
    {
      list: [
        { name: 'ours', mountPath: '/tmp' },
        { name: 'ours', mountPath: '/home' },
      ],
    },
    {
      list: [
        { name: 'ours', mountPath: '/tmp' },
        { name: 'ours', mountPath: '/home' },
      ],
    },
  ],
  ['nothing given', {}, { a: [1] }, { a: [1] }],
])('%s', (_what, given, ours, merged) => {
  expect(mergeManifest(given, ours)).toEqual(merged);
});
