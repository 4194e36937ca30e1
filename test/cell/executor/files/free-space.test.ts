/** What the owner does to names and long files of a cell takes no time of its event loop, however long the system takes. */
import { execFileSync } from 'node:child_process';
import {
  closeSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  read,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { openRoot } from '../../../../src/cell/executor/files/directory.js';
import { closeFile } from '../../../../src/cell/executor/files/free-space.js';
import { NewFile } from '../../../../src/cell/executor/files/new-file.js';
import { upload } from '../../../../src/cell/executor/files/upload-files.js';
import { makeScratch, type Scratch } from './scratch.js';

/** The real ones, which a test can hold up as a program that writes does. */
const unlinks = vi.hoisted(() => ({ before: undefined as ((path: unknown) => Promise<void>) | undefined }));
vi.mock('node:fs/promises', async (load) => {
  const real = await load<typeof import('node:fs/promises')>();
  const unlink: typeof real.unlink = async (path) => {
    await unlinks.before?.(path);
    return real.unlink(path);
  };
  return { ...real, unlink };
});

const long = Buffer.alloc(9 << 20, 1);
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'workcell-test-'));
});
afterEach(() => {
  unlinks.before = undefined;
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** Files without a name that a descriptor still keeps: their space is free only when that closes. */
const kept = () =>
  readdirSync('/proc/self/fd').filter((fd) => {
    try {
      const target = readlinkSync(`/proc/self/fd/${fd}`);
      return target.startsWith(`${folder}/`) && target.endsWith(' (deleted)') && !target.includes('/pipe ');
    } catch {
      return false;
    }
  });

const write = (name: string, data: Buffer | string) => {
  const path = join(folder, name);
  writeFileSync(path, data);
  return path;
};

/** Lets every thread of the pool wait for a byte. Returns what sends them. */
function occupyPool(): () => Promise<void> {
  const pipe = join(folder, 'pipe');
  execFileSync('mkfifo', [pipe]);
  const fd = openSync(pipe, 'r+');
  rmSync(pipe);
  const threads = Number(process.env.UV_THREADPOOL_SIZE ?? 4);
  const waiting = Array.from(
    { length: threads },
    () => new Promise((resolve) => read(fd, Buffer.alloc(1), 0, 1, null, resolve)),
  );
  return async () => {
    writeSync(fd, Buffer.alloc(threads));
    await Promise.all(waiting);
    closeSync(fd);
  };
}

test('another thread frees a long file whose descriptor closes', async () => {
  const path = write('old', long);
  const fd = openSync(path, 'r');
  rmSync(path);
  const goOn = occupyPool();
  closeFile(fd);
  expect(kept()).toHaveLength(1);
  await goOn();
  await vi.waitFor(() => expect(kept()).toEqual([]));
});

test('closes a short file at once', () => {
  const fd = openSync(write('short', 'text'), 'r');
  closeFile(fd);
  expect(() => closeSync(fd)).toThrow('EBADF');
});

test('a file that is never complete leaves nothing', async () => {
  const directory = openRoot(folder, false);
  const file = new NewFile(directory);
  file.write(long);
  const goOn = occupyPool();
  const discarded = file.discard();
  await turns();
  expect(readdirSync(folder)).toHaveLength(1);
  await goOn();
  await discarded;
  directory.close();
  await vi.waitFor(() => expect(kept()).toEqual([]));
  expect(readdirSync(folder)).toEqual([]);
});

/** Each takes a name away, or writes to what programs of the cell may be writing to. */
const changes: Record<string, (scratch: Scratch) => Promise<unknown>> = {
  'remove a file': ({ act }) => act({ action: 'remove', path: 'file' }),
  'remove an empty directory': ({ act }) => act({ action: 'remove', path: 'empty' }),
  'remove a tree': ({ act }) => act({ action: 'remove', path: 'tree', recursive: true }),
  'write over a file': ({ act }) => act({ action: 'write', path: 'file', content: 'new' }),
  'append to a file': ({ act }) => act({ action: 'write', path: 'file', content: 'new', append: true }),
  'edit a file': ({ act }) => act({ action: 'edit', path: 'file', oldText: 'old', newText: 'new' }),
  'upload over a file': ({ tree }) => upload(tree, 'file', chunks('new'), {}),
  'copy over a file': ({ act }) => act({ action: 'copy', from: 'other', to: 'file', overwrite: true }),
  'copy over a tree': ({ act }) => act({ action: 'copy', from: 'other', to: 'tree', overwrite: true }),
  'move over a file': ({ act }) => act({ action: 'move', from: 'other', to: 'file', overwrite: true }),
  'move over an empty directory': ({ act }) =>
    act({ action: 'move', from: 'tree', to: 'empty', overwrite: true }),
};

for (const [what, change] of Object.entries(changes))
  test(`waits for the system in another thread: ${what}`, async () => {
    const scratch = makeScratch();
    mkdirSync(join(scratch.root, 'empty'));
    mkdirSync(join(scratch.root, 'tree', 'below'), { recursive: true });
    for (const name of ['file', 'tree/below/file']) writeFileSync(join(scratch.root, name), 'old');
    writeFileSync(join(scratch.root, 'other'), 'new');
    const before = contents(scratch.root);
    const goOn = occupyPool();
    let ended = false;
    const changed = change(scratch).finally(() => {
      ended = true;
    });
    await turns();
    expect(contents(scratch.root)).toEqual(before);
    expect(ended).toBe(false);
    await goOn();
    await changed;
    expect(contents(scratch.root)).not.toEqual(before);
    expect(readdirSync(scratch.root, { recursive: true }).join()).not.toContain('.workcell-');
  });

/** Has every call to take the name of a file away wait. Tells how many do at once. */
function holdUnlinks(): { waiting: () => number; goOn: () => void } {
  const held: (() => void)[] = [];
  let isHeld = true;
  unlinks.before = async (path) => {
    if (isHeld && String(path).includes('/file-')) await new Promise<void>((resolve) => held.push(resolve));
  };
  return {
    waiting: () => held.length,
    goOn() {
      isHeld = false;
      for (const resolve of held) resolve();
    },
  };
}

test('a tree takes two threads of the pool, and many trees leave one free', async () => {
  const { root, act } = makeScratch();
  const trees = ['one', 'two', 'three'];
  for (const name of trees) {
    mkdirSync(join(root, name));
    for (let count = 0; count < 10; count++) writeFileSync(join(root, name, `file-${count}`), '');
  }
  const { waiting, goOn } = holdUnlinks();
  const remove = (path: string) => act({ action: 'remove', path, recursive: true });
  const first = remove('one');
  await vi.waitUntil(() => waiting() >= 2);
  await turns();
  expect(waiting()).toBe(2);
  const others = ['two', 'three'].map(remove);
  const most = Number(process.env.UV_THREADPOOL_SIZE ?? 4) - 1;
  await vi.waitUntil(() => waiting() >= most);
  await turns();
  expect(waiting()).toBe(most);
  goOn();
  await Promise.all([first, ...others]);
  expect(readdirSync(root)).toEqual(['workspace']);
});

test('writes and appends at once take place one after the other', async () => {
  const { root, act } = makeScratch();
  const written = await Promise.all(
    ['a', 'b', 'c', 'd'].map((content, at) =>
      act({ action: 'write', path: 'file', content, append: at > 0 }),
    ),
  );
  expect(written.map(({ created }) => created)).toEqual([true, false, false, false]);
  expect(readFileSync(join(root, 'file'), 'utf8')).toBe('abcd');
});

/** More than any of these takes that does not wait. */
async function turns(): Promise<void> {
  for (let count = 0; count < 100; count++) await turn();
}

async function* chunks(text: string): AsyncGenerator<Buffer> {
  yield Buffer.from(text);
}

/** Everything but what is not complete yet. */
function contents(root: string): Record<string, string> {
  const names = readdirSync(root, { recursive: true, encoding: 'utf8' }).sort();
  return Object.fromEntries(
    names
      .filter((name) => !name.includes('.workcell-'))
      .map((name) => {
        const path = join(root, name);
        return [name, statSync(path).isDirectory() ? 'directory' : readFileSync(path, 'utf8')];
      }),
  );
}
