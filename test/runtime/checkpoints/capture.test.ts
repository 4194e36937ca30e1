import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, lstatSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { createRuntime, type Runtime, type WorkspaceOption } from '../../../src/index.js';
import { captureLayer, type Layer } from '../../../src/runtime/checkpoints/capture.js';
import { Whiteouts } from '../../../src/runtime/checkpoints/whiteouts.js';

const root = mkdtempSync(join(tmpdir(), 'capture-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));
let count = 0;

function directory(...files: string[]): string {
  const path = join(root, String(count++));
  mkdirSync(path);
  for (const name of files) {
    mkdirSync(join(path, name, '..'), { recursive: true });
    writeFileSync(join(path, name), `${name}\n`);
  }
  return path;
}

const open = (from: string, mode: WorkspaceOption['mode']): Promise<Runtime> =>
  createRuntime({ config: false, backend: 'sandbox', workspace: { from, mode }, plugins: [], tools: [] });

it.each([1, 60])(
  'invents no deletion for %s names that the cell missed before they were there',
  async (names) => {
    const repo = directory('d/written', ...(names === 1 ? [] : ['d/kept', 'd/sub/kept']));
    await using runtime = await open(repo, 'overlay');
    await runtime.run(`echo new > d/written; ls d/new-{1..${names}} d/sub`);
    for (let name = 1; name <= names; name++) writeFileSync(join(repo, `d/new-${name}`), 'mine\n');
    expect((await runtime.run('test -e d/new-1')).exitCode).toBe(1);
    expect(await runtime.diff()).toMatchObject([{ path: 'd/written', change: 'changed' }]);
    expect(await runtime.apply(repo, { onConflict: 'skip' })).toMatchObject({ applied: true, conflicts: [] });
    expect(existsSync(join(repo, 'd/new-1'))).toBe(true);
  },
);

it('shares what did not change, also where the times of a file do not tell', async () => {
  const [upper, base, layers] = [directory('same', 'other'), directory(), directory()];
  const whiteouts = new Whiteouts(layers);
  const source = { upper, base, merged: upper, mapped: () => undefined };
  const first = await captureLayer(source, join(layers, 'first'), whiteouts);
  expect(first.ownBytes).toBe('same\nother\n'.length);
  writeFileSync(join(upper, 'other'), 'OTHER\n');
  const second = await captureLayer(source, join(layers, 'second'), whiteouts, first);
  expect(second.ownBytes).toBe('OTHER\n'.length);
  const inode = (layer: Layer, name: string) => lstatSync(join(layer.path, name)).ino;
  expect(inode(second, 'same')).toBe(inode(first, 'same'));
  expect(readFileSync(join(first.path, 'other'), 'utf8')).toBe('other\n');
  expect(readFileSync(join(second.path, 'other'), 'utf8')).toBe('OTHER\n');
});

const mapping = `
import mmap
files = [open(name, "r+b") for name in ("below", "new")]
maps = [mmap.mmap(file.fileno(), 0) for file in files]
while True:
    text = open("/tmp/text").read().strip().encode()
    for one in maps: one[0:len(text)] = text
    open("/tmp/written", "w").close()
`;

it.each(['overlay', 'copy'] as const)(
  'sees in mode %s what a program writes through memory',
  async (mode) => {
    await using runtime = await open(directory('below'), mode);
    await runtime.run('mkfifo /tmp/text /tmp/written; cat below; echo first > new');
    await runtime.execute({ action: 'start_process', argv: ['python3', '-c', mapping], cwd: '/workspace' });
    const write = (text: string) => runtime.run(`echo ${text} > /tmp/text; cat /tmp/written`);
    await write('one');
    // From here on, the pages are dirty, so the kernel stamps no change.
    for (let round = 0; round < 3; round++) await runtime.checkpoint();
    await write('two');
    const second = await runtime.checkpoint();
    await write('six');
    await runtime.rewind(second);
    expect((await runtime.run('head -qc 3 below new')).output.trim()).toBe('twotwo');
  },
);

describe('pipes and sockets', () => {
  it('are never shared with the caller or a fork', async () => {
    const repo = directory('file');
    execFileSync('mkfifo', [join(repo, 'pipe')]);
    const server = createServer().listen(join(repo, 'socket'));
    await once(server, 'listening');
    try {
      await using runtime = await open(repo, 'copy');
      expect(['pipe', 'socket'].map((name) => lstatSync(join(repo, name)).nlink)).toEqual([1, 1]);
      const { output } = await runtime.run('test -p pipe && stat -c %h pipe; test -e socket || echo none');
      expect(output.trim().split(/\s+/)).toEqual(['1', 'none']);
      expect(await runtime.diff()).toEqual([]);
      const [fork] = await runtime.fork();
      await using other = fork as Runtime;
      const [one, two] = await Promise.all([runtime, other].map((cell) => cell.run('stat -c %i pipe')));
      expect(one?.output).not.toBe(two?.output);
    } finally {
      server.close();
    }
  });

  it('leave no file of the caller in view where a socket took its place', async () => {
    await using runtime = await open(directory('file'), 'overlay');
    const first = await runtime.checkpoint();
    const listen = 'import socket; socket.socket(socket.AF_UNIX).bind("file")';
    await runtime.run(`rm file; python3 -c '${listen}'`);
    expect(await runtime.diff()).toMatchObject([{ path: 'file', change: 'removed' }]);
    await runtime.rewind(first);
    expect((await runtime.run('cat file')).output.trim()).toBe('file');
  });
});
