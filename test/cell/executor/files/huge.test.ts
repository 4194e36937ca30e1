/** Directories that a cell filled with names: answered within bounds, while this process does other things. */
import { execFileSync } from 'node:child_process';
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, vi } from 'vitest';
import { openRoot } from '../../../../src/cell/executor/files/directory.js';
import { mostNames, readEntries } from '../../../../src/cell/executor/files/read-entries.js';
import { Watcher } from '../../../../src/cell/executor/files/watcher.js';
import { makeScratch } from './scratch.js';

/** The test makes files one by one, which takes its time on a machine under load. */
const patienceMs = 180_000;

function fill(directory: string, count: number): void {
  const program = 'for (1 .. $ARGV[0]) { open(my $file, ">", sprintf("%06d", $_ * 7919 % 1000003)) or die }';
  execFileSync('perl', ['-e', program, String(count)], { cwd: directory });
}

it('a long directory is read in steps and comes out in order, up to a limit', () => {
  const { root } = makeScratch();
  fill(root, 5000);
  const names = readdirSync(root).sort();
  const read = (limit?: number) => {
    const reading = readEntries(openRoot(root, false), limit);
    for (let steps = 0; ; steps++) {
      const { done, value } = reading.next();
      if (done) return { steps, ...value };
    }
  };
  const whole = read();
  expect(whole.entries.map(({ text }) => text)).toEqual(names);
  expect(whole).toMatchObject({ isComplete: true });
  expect(whole.steps).toBeGreaterThan(2);
  expect(read(100)).toMatchObject({ isComplete: false, entries: { length: 100 } });
});

it(
  'more names than are read are listed, searched, copied and removed within bounds',
  async () => {
    // In memory, where making so many files takes a moment.
    vi.stubEnv('TMPDIR', '/dev/shm');
    const { root, act } = makeScratch();
    vi.unstubAllEnvs();
    const directory = join(root, 'huge');
    execFileSync('mkdir', [directory]);
    fill(directory, mostNames + 1000);
    let turns = 0;
    const counting = setInterval(() => turns++, 1);
    const listed = await act({ action: 'list', path: 'huge', limit: 10 });
    expect(listed).toMatchObject({ truncated: true, entries: { length: 10 } });
    expect(turns).toBeGreaterThan(10);
    clearInterval(counting);
    expect(await act({ action: 'glob', pattern: 'huge/none*' })).toMatchObject({
      paths: [],
      truncated: true,
    });
    await expect(act({ action: 'copy', from: 'huge', to: 'copy' })).rejects.toMatchObject({
      code: 'file-too-large',
    });
    await act({ action: 'remove', path: 'huge', recursive: true });
    expect(readdirSync(root)).not.toContain('huge');
  },
  patienceMs,
);

it('a flood of changes is left alone for a while, and nothing of it is missed', async () => {
  const { root, tree } = makeScratch();
  writeFileSync(join(root, 'gone'), '');
  const seen = new Set<string>();
  let wake = () => {};
  const watcher = new Watcher(tree, [], {
    recursive: true,
    mostInTurn: 10,
    onChange(change, path) {
      seen.add(`${change} ${path}`);
      wake();
    },
  });
  await watcher.start();
  execFileSync('sh', ['-c', 'rm gone; mkdir made; for i in $(seq 100); do echo x >made/$i; done'], {
    cwd: root,
  });
  const expected = ['removed gone', 'created made', 'created made/1', 'created made/100'];
  while (!expected.every((change) => seen.has(change))) {
    await new Promise<void>((resolve) => {
      wake = resolve;
    });
  }
  watcher.close();
});
