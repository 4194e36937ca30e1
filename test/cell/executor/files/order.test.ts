/** What is sent together takes place one after the other: each change sees what those before it did. */
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { pack } from 'tar-stream';
import { afterEach, expect, test, vi } from 'vitest';
import { createExecutor } from '../../../../src/cell/executor/create-executor.js';
import { Tree } from '../../../../src/cell/executor/files/file-tree.js';
import { upload } from '../../../../src/cell/executor/files/upload-files.js';
import { createHostLauncher } from '../../../../src/cell/launchers/host-launcher.js';
import { makeScratch } from './scratch.js';

afterEach(() => vi.restoreAllMocks());

const outcomes = async (sent: Promise<unknown>[]) =>
  (await Promise.allSettled(sent)).map((outcome) =>
    outcome.status === 'fulfilled' ? 'done' : (outcome.reason as { code: string }).code,
  );

test.each(['move', 'copy'] as const)('of two that %s to one name, one finds it taken', async (action) => {
  const { root, act } = makeScratch();
  for (const name of ['a', 'b']) writeFileSync(join(root, name), name);
  const sent = ['a', 'b'].map((from) => act({ action, from, to: 'c' }));
  expect((await outcomes(sent)).sort()).toEqual(['already-exists', 'done']);
  const left = readdirSync(root)
    .filter((name) => name !== 'workspace')
    .sort();
  expect(left).toEqual(action === 'move' ? [expect.stringMatching(/^[ab]$/), 'c'] : ['a', 'b', 'c']);
  expect(left.map((name) => readFileSync(join(root, name), 'utf8'))).toEqual(
    expect.arrayContaining(['a', 'b']),
  );
});

test('a move does not replace what a write sent before it makes', async () => {
  const { root, act } = makeScratch();
  writeFileSync(join(root, 'from'), 'moved');
  const write = act({ action: 'write', path: 'to', content: 'written' });
  expect(await outcomes([write, act({ action: 'move', from: 'from', to: 'to' })])).toEqual([
    'done',
    'already-exists',
  ]);
  expect(readFileSync(join(root, 'to'), 'utf8')).toBe('written');
  expect(readFileSync(join(root, 'from'), 'utf8')).toBe('moved');
});

test.each(['remove', 'move', 'copy'] as const)(
  'a %s finds the file of a write sent before it',
  async (action) => {
    const { root, act } = makeScratch();
    const write = act({ action: 'write', path: 'new/file', content: 'text' });
    const next =
      action === 'remove'
        ? act({ action, path: 'new/file' })
        : act({ action, from: 'new/file', to: 'other' });
    expect(await outcomes([write, next])).toEqual(['done', 'done']);
    expect(existsSync(join(root, 'new/file'))).toBe(action === 'copy');
    expect(existsSync(join(root, 'other'))).toBe(action !== 'remove');
  },
);

test('who cancels a copy that has already replaced a tree gets it, and nothing hidden stays', async () => {
  const { root, act } = makeScratch();
  const target = join(root, 'target');
  mkdirSync(target);
  for (let count = 0; count < 300; count++) writeFileSync(join(target, `file-${count}`), '');
  writeFileSync(join(root, 'source'), 'new');
  // Every step is the last of its turn.
  let now = 0;
  vi.spyOn(performance, 'now').mockImplementation(() => (now += 1000));
  const cancel = new AbortController();
  const copied = outcomes([
    act({ action: 'copy', from: 'source', to: 'target', overwrite: true }, { signal: cancel.signal }),
  ]);
  while (!existsSync(target) || statSync(target).isDirectory()) await turn();
  cancel.abort();
  expect(await copied).toEqual(['done']);
  expect(readFileSync(target, 'utf8')).toBe('new');
  expect(readdirSync(root).sort()).toEqual(['source', 'target', 'workspace']);
});

/** Holds the order of changes until the caller lets go. */
function holdOrder(tree: Tree): () => void {
  let goOn = () => {};
  const held = new Promise<void>((resolve) => {
    goOn = resolve;
  });
  void tree.inOrder(() => held);
  return goOn;
}

test.each(['file', 'symlink', 'link'] as const)('a %s of an archive waits for its turn', async (type) => {
  const { root, tree } = makeScratch();
  const archive = pack();
  if (type === 'link') archive.entry({ name: 'first' }, 'first');
  if (type === 'file') archive.entry({ name: 'member' }, 'member');
  else archive.entry({ name: 'member', type, linkname: 'first' });
  archive.finalize();
  const goOn = holdOrder(tree);
  const uploaded = upload(tree, '.', archive as AsyncIterable<Buffer>, { format: 'tar' });
  for (let count = 0; count < 200; count++) await turn();
  const isThere = () => readdirSync(root).includes('member');
  expect(isThere()).toBe(false);
  goOn();
  await uploaded;
  expect(isThere()).toBe(true);
});

test('a tree closes after the changes in line, and refuses those that have yet to look for their file', async () => {
  const { root, tree, act } = makeScratch();
  for (const name of ['file', 'from']) writeFileSync(join(root, name), 'old');
  const goOn = holdOrder(tree);
  await turn();
  const changed = outcomes([
    act({ action: 'remove', path: 'file' }),
    act({ action: 'move', from: 'from', to: 'to' }),
    act({ action: 'write', path: 'file', content: 'new' }),
  ]);
  const seen: string[] = [];
  const closed = tree.close().then(() => seen.push('closed'));
  await turn();
  seen.push('goes on');
  goOn();
  expect(await changed).toEqual(['runtime-closed', 'runtime-closed', 'runtime-closed']);
  await closed;
  expect(seen).toEqual(['goes on', 'closed']);
  expect(readdirSync(root).sort()).toEqual(['file', 'from', 'workspace']);
  expect(readFileSync(join(root, 'file'), 'utf8')).toBe('old');
});

test('a cell has stopped when the change that has begun has ended', async () => {
  const { root } = makeScratch();
  const launcher = createHostLauncher({ workspace: root, environment: {} });
  const executor = createExecutor(launcher);
  const closing = vi.spyOn(Tree.prototype, 'close');
  const inOrder = vi.spyOn(Tree.prototype, 'inOrder');
  await executor.execute({ action: 'write', path: 'file', content: 'text' } as never);
  const goOn = holdOrder(inOrder.mock.contexts[0] as Tree);
  let isClosed = false;
  const closed = executor.close().then(() => {
    isClosed = true;
  });
  await vi.waitUntil(() => closing.mock.calls.length > 0);
  await turn();
  await turn();
  expect(isClosed).toBe(false);
  goOn();
  await closed;
});
