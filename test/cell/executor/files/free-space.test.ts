/** What the owner does to long files of a cell takes no time of its event loop. */
import { execFileSync } from 'node:child_process';
import {
  closeSync,
  mkdtempSync,
  openSync,
  read,
  readdirSync,
  readlinkSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { openRoot } from '../../../../src/cell/executor/files/directory.js';
import { closeFile, renameFile, unlinkFile } from '../../../../src/cell/executor/files/free-space.js';
import { NewFile } from '../../../../src/cell/executor/files/new-file.js';

const long = Buffer.alloc(9 << 20, 1);
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'workcell-test-'));
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

const ways: Record<string, () => void> = {
  'a name that goes': () => unlinkFile(write('old', long)),
  'a name that another file takes': () => renameFile(write('new', 'short'), write('old', long)),
  'a descriptor that closes': () => {
    const path = write('old', long);
    const fd = openSync(path, 'r');
    rmSync(path);
    closeFile(fd);
  },
  'a file that is never complete': () => {
    const directory = openRoot(folder, false);
    const file = new NewFile(directory);
    file.write(long);
    file.discard();
    directory.close();
  },
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

for (const [what, act] of Object.entries(ways))
  test(`another thread frees a long file: ${what}`, async () => {
    const goOn = occupyPool();
    act();
    expect(kept()).toHaveLength(1);
    await goOn();
    await vi.waitFor(() => expect(kept()).toEqual([]));
    expect(readdirSync(folder).filter((name) => name !== 'old')).toEqual([]);
  });

test('closes a short file at once', () => {
  const path = write('short', 'text');
  const fd = openSync(path, 'r');
  unlinkFile(path);
  closeFile(fd);
  expect(kept()).toEqual([]);
  expect(() => closeSync(fd)).toThrow('EBADF');
});
