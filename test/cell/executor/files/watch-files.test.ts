import { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import type { Progress } from '../../../../src/protocol/index.js';
import { codeOf, makeScratch, type Scratch } from './scratch.js';

/** Starts watching; `seen` resolves when the watch has reported a change, whenever that was. */
async function start(scratch: Scratch, path = '.', more: { recursive?: boolean } = {}) {
  const controller = new AbortController();
  onTestFinished(() => controller.abort());
  const changes: string[] = [];
  let wake = () => {};
  let ready = () => {};
  const armed = new Promise<void>((resolve) => {
    ready = resolve;
  });
  const onProgress = (progress: Progress) => {
    if (progress.type === 'ready') ready();
    if (progress.type !== 'file-change') return;
    changes.push(`${progress.change} ${progress.path.slice(scratch.root.length + 1)}`);
    wake();
  };
  const done = scratch.act({ action: 'watch', path, ...more }, { signal: controller.signal, onProgress });
  await Promise.race([armed, done]);
  const seen = async (change: string) => {
    while (!changes.includes(change)) {
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
  };
  return { changes, seen, done, stop: () => controller.abort() };
}

it('reports what is created, modified and removed below, new directories included', async () => {
  const scratch = makeScratch();
  const { root, act } = scratch;
  mkdirSync(join(root, 'old'));
  writeFileSync(join(root, 'old/file'), 'x');
  const watching = await start(scratch);
  writeFileSync(join(root, 'old/file'), 'y');
  await watching.seen('modified old/file');
  await act({ action: 'write', path: 'old/file', content: 'z' });
  await act({ action: 'write', path: 'new/deep/file', content: 'z' });
  await watching.seen('created new/deep/file');
  writeFileSync(join(root, 'new/deep/late'), '');
  await watching.seen('created new/deep/late');
  renameSync(join(root, 'new'), join(root, 'moved'));
  await watching.seen('removed new');
  await watching.seen('created moved/deep/late');
  rmSync(join(root, 'moved'), { recursive: true });
  await watching.seen('removed moved');
  watching.stop();
  const { path, changes } = await watching.done;
  expect(path).toBe(root);
  expect(changes).toBe(watching.changes.length);
  expect(watching.changes.filter((change) => change.includes('.workcell'))).toEqual([]);
});

it('reports one file, also when it is replaced', async () => {
  const scratch = makeScratch();
  writeFileSync(join(scratch.root, 'file'), 'x');
  const watching = await start(scratch, 'file');
  writeFileSync(join(scratch.root, 'other'), '');
  await scratch.act({ action: 'write', path: 'file', content: 'y' });
  await watching.seen('modified file');
  rmSync(join(scratch.root, 'file'));
  await watching.seen('removed file');
  expect(new Set(watching.changes)).toEqual(new Set(['modified file', 'removed file']));
});

it('stays in its directory: not below it without asking, and never through links', async () => {
  const scratch = makeScratch();
  const { root, outside } = scratch;
  mkdirSync(join(root, 'sub'));
  symlinkSync(outside, join(root, 'link'));
  const watching = await start(scratch, '.', { recursive: false });
  const deep = await start(scratch);
  writeFileSync(join(outside, 'elsewhere'), '');
  writeFileSync(join(root, 'sub/below'), '');
  writeFileSync(join(root, 'here'), '');
  await watching.seen('created here');
  await deep.seen('created here');
  expect(watching.changes).toEqual(['created here']);
  expect(deep.changes).toContain('created sub/below');
  expect(deep.changes.join()).not.toContain('elsewhere');
});

it('ends with the signal, with the tree, or before it starts', async () => {
  const scratch = makeScratch();
  expect(await scratch.act({ action: 'watch' }, { signal: AbortSignal.abort() })).toMatchObject({
    changes: 0,
  });
  expect(await codeOf(scratch.act({ action: 'watch', path: 'missing' }))).toBe('not-found');
  const watching = await start(scratch);
  scratch.tree.close();
  expect(await watching.done).toMatchObject({ observation: 'watch', changes: 0 });
});
