import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { mergeTexts } from '../../../src/runtime/checkpoints/merge-texts.js';
import { planChanges } from '../../../src/runtime/checkpoints/plan-changes.js';
import { writeChanges } from '../../../src/runtime/checkpoints/write-changes.js';

const root = mkdtempSync(join(tmpdir(), 'merge-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));
let count = 0;

type Files = Record<string, readonly [content: string, mode: number]>;

function directory(files: Files): string {
  const path = join(root, String(count++));
  mkdirSync(path);
  for (const [name, [content, mode]] of Object.entries(files)) {
    writeFileSync(join(path, name), content);
    chmodSync(join(path, name), mode);
  }
  return path;
}

const large = 'x'.repeat(2_000_000);

it('merges the mode of a file as well as its content', async () => {
  const old = '1\n2\n3\n';
  const [before, mine, theirs] = [
    directory({
      'mode-mine': [old, 0o644],
      'mode-theirs': [old, 0o644],
      'mode-both': [old, 0o644],
      large: [large, 0o644],
      lines: [old, 0o644],
    }),
    directory({
      'mode-mine': [old, 0o755],
      'mode-theirs': ['0\n2\n3\n', 0o644],
      'mode-both': [old, 0o755],
      large: [large, 0o755],
      lines: ['0\n2\n3\n', 0o755],
    }),
    directory({
      'mode-mine': ['1\n2\n4\n', 0o644],
      'mode-theirs': [old, 0o755],
      'mode-both': [old, 0o600],
      large: [`${large}y`, 0o644],
      lines: ['1\n2\n4\n', 0o644],
    }),
  ] as const;
  const { writes, conflicts } = await planChanges({
    before: { base: before },
    after: { base: theirs },
    target: mine,
  });
  expect(conflicts).toEqual([{ path: 'mode-both', reason: 'changed' }]);
  await writeChanges(mine, { base: theirs }, writes);
  const found = ['mode-mine', 'mode-theirs', 'mode-both', 'lines'].map((name) => [
    readFileSync(join(mine, name), 'utf8'),
    statSync(join(mine, name)).mode & 0o777,
  ]);
  expect(found).toEqual([
    ['1\n2\n4\n', 0o755],
    ['0\n2\n3\n', 0o755],
    [old, 0o755],
    ['0\n2\n4\n', 0o755],
  ]);
  expect(statSync(join(mine, 'large'))).toMatchObject({ size: 2_000_001, mode: 0o100755 });
});

it('puts a change where it belongs, also between blocks that are all alike', () => {
  const block = (text: string) => `function () {\n  a\n  b\n  ${text}\n  d\n  e\n}\n`;
  const base = block('c').repeat(6);
  const theirs = `${block('c').repeat(3)}${block('changed')}${block('c').repeat(2)}`;
  // As many lines as a block, so that another block stands where theirs was.
  const added = Array.from({ length: 7 }, (_, line) => `// ${line}\n`).join('');
  expect(mergeTexts(base, `${added}${base}`, theirs)).toBe(`${added}${theirs}`);
});

it.each([
  ['1\n2\n3\n', '0\n2\n3\n', '1\n2\n4\n', '0\n2\n4\n'],
  ['1\n2\n3', '1\n2\n3\n', '0\n2\n3', '0\n2\n3\n'],
  ['1\n2\n', '0\n1\n2\n', '0\n1\n2\n', '0\n1\n2\n'],
  ['1\n2\n3\n', '2\n3\n', '1\n2\n3\n4\n', '2\n3\n4\n'],
  ['', '1\n', '2\n', undefined],
  ['1\n2\n', '0\n2\n', '1\n3\n', undefined],
  ['1\n2\n3\n', '1\n3\n', '1\nzwei\n3\n', undefined],
])('merges %j, %j and %j', (base, mine, theirs, merged) => {
  expect(mergeTexts(base, mine, theirs)).toBe(merged);
});

it('gives up on texts that are made to be hard to compare', () => {
  const text = (seed: number) =>
    Array.from({ length: 40_000 }, (_, line) => `${(line * seed) % 97}\n`).join('');
  expect(mergeTexts(text(1), text(31), text(57))).toBeUndefined();
  expect(mergeTexts('\n'.repeat(60_000), '\n', '\n\n')).toBeUndefined();
});
