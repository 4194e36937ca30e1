import { execFileSync, spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { temporaryDirectory } from '../../../src/base/own-directory.js';
import { sweepAbandoned } from '../../../src/cell/launchers/scratch.js';
import { builtFile } from '../../built-file.js';

const root = mkdtempSync(join(tmpdir(), 'killed-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

const program = new URL('apply-until-killed.mjs', import.meta.url).pathname;
const verbProgram = new URL('verb-until-killed.mjs', import.meta.url).pathname;

function directory(name: string, files: Record<string, string>): string {
  const path = join(root, name);
  for (const [file, content] of Object.entries(files)) {
    mkdirSync(dirname(join(path, file)), { recursive: true });
    writeFileSync(join(path, file), content);
  }
  return path;
}

/** The content of a file, the target of a link, undefined for what is not there. */
function read(path: string): string | undefined {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (stats === undefined || stats.isDirectory()) return undefined;
  return stats.isSymbolicLink() ? `-> ${readlinkSync(path)}` : readFileSync(path, 'utf8');
}

it('leaves each file old or new, wherever a kill interrupts an apply, and the next one finishes', {
  timeout: 180_000,
}, () => {
  const before = directory('before', { 'd/one': 'old', two: 'old', gone: 'old', 'dead/inner': 'old' });
  const after = directory('after', { 'd/one': 'new', two: 'new', 'made/deep/three': 'new' });
  symlinkSync('d/one', join(after, 'link'));
  const names = ['d/one', 'two', 'gone', 'dead/inner', 'made/deep/three', 'link'];
  const folder = dirname(builtFile('runtime/checkpoints/write-changes.js'));
  const apply = (target: string, killAt: number) =>
    spawnSync(process.execPath, [program, folder, before, after, target, String(killAt)], {
      encoding: 'utf8',
    });
  const fresh = () => {
    const target = join(root, 'target');
    rmSync(target, { recursive: true, force: true });
    cpSync(before, target, { recursive: true });
    return target;
  };

  const steps = Number(apply(fresh(), 0).stdout);
  expect(steps).toBeGreaterThan(15);
  for (let step = 1; step <= steps; step++) {
    const target = fresh();
    expect(apply(target, step).signal, `step ${step}`).toBe('SIGKILL');
    const [was, is, now] = [before, after, target].map((path) => names.map((name) => read(join(path, name))));
    const states = names.map((_, index) =>
      now?.[index] === is?.[index] ? 'new' : now?.[index] === was?.[index] ? 'old' : 'neither',
    );
    expect(states, `step ${step}`).not.toContain('neither');
    // Nothing that goes is gone before all that comes is there.
    const placed = [0, 1, 4, 5].map((index) => states[index]);
    if (states[2] === 'new' || states[3] === 'new') expect(placed, `step ${step}`).not.toContain('old');

    if (step % 4 !== 0) continue;
    expect(apply(target, 0).status, `after step ${step}`).toBe(0);
    const staged = readdirSync(target).filter((name) => name.startsWith('.workcell-apply-'));
    for (const name of staged) rmSync(join(target, name), { recursive: true });
    expect(existsSync(join(target, 'gone'))).toBe(false);
    execFileSync('diff', ['-r', '--no-dereference', after, target]);
  }
});

it.each(['checkpoint', 'rewind', 'fork', 'merge', 'close'])(
  'leaves the directory as it was, and nothing for long, wherever a kill interrupts a %s',
  { timeout: 180_000 },
  async (verb) => {
    const repository = directory(`repository-${verb}`, { one: 'old', two: 'old', gone: 'old' });
    const before = contents(repository);
    const run = (killAt: number, env: Record<string, string> = {}) => {
      const words = [verbProgram, builtFile('index.js'), repository, verb, String(killAt)];
      return spawnSync(process.execPath, words, { encoding: 'utf8', env: { ...process.env, ...env } });
    };
    const left = (pid: number) =>
      readdirSync(temporaryDirectory().path).filter((name) => name.includes(`-${pid}-`));
    // Each step, in one process: a kill changes nothing on the disk, so what is there then is what it would leave.
    const whole = run(0, { TMPDIR: mkdtempSync(join(root, 'own-')) });
    expect(whole.stderr).toBe('');
    const { count: steps, wrong } = JSON.parse(whole.stdout) as { count: number; wrong: string[] };
    expect(wrong).toEqual([]);
    expect(steps).toBeGreaterThan(5);
    // And real kills at some of them, after which the next process removes the rest.
    for (let step = 1; step <= steps; step += Math.ceil(steps / 4)) {
      const killed = run(step);
      expect(killed.signal, `step ${step}`).toBe('SIGKILL');
      expect(contents(repository), `step ${step}`).toEqual(before);
      expect(left(killed.pid), `step ${step}`).not.toEqual([]);
      await sweepAbandoned(temporaryDirectory());
      expect(left(killed.pid), `step ${step}`).toEqual([]);
    }
  },
);

function contents(path: string): (string | undefined)[][] {
  return readdirSync(path)
    .sort()
    .map((name) => [name, read(join(path, name))]);
}
