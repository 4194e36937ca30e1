import {
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { createRuntime, type Runtime, type WorkspaceOption } from '../../../src/index.js';
import { planChanges } from '../../../src/runtime/checkpoints/plan-changes.js';
import { writeChanges } from '../../../src/runtime/checkpoints/write-changes.js';

const root = mkdtempSync(join(tmpdir(), 'apply-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));
let count = 0;

function directory(files: Record<string, string>): string {
  const path = join(root, String(count++));
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(join(path, name, '..'), { recursive: true });
    writeFileSync(join(path, name), content);
  }
  return path;
}

const open = (from: string, more: Partial<WorkspaceOption> = {}): Promise<Runtime> =>
  createRuntime({
    config: false,
    backend: 'sandbox',
    workspace: { from, mode: 'overlay', ...more },
    plugins: [],
    tools: [],
  });

it.each(['overlay', 'copy'] as const)(
  'takes over in mode %s, again and again, without loss',
  async (mode) => {
    const repo = directory({ a: 'one\n', twin: 'twin\n', gone: 'g\n', f: 'f\n', 'd/x': 'x\n' });
    linkSync(join(repo, 'twin'), join(repo, 'twin2'));
    await using runtime = await open(repo, { mode, keep: 1 });
    const at = (name: string) => join(repo, name);

    // The second time, what the first wrote is no change of the caller's.
    await runtime.run('echo two >> a; rm twin2');
    expect(await runtime.apply(repo)).toMatchObject({ applied: true, conflicts: [] });
    expect(existsSync(at('twin2'))).toBe(false);
    await runtime.run('echo three >> a; echo back > twin2');
    expect(await runtime.apply(repo)).toMatchObject({ applied: true, conflicts: [] });
    expect(readFileSync(at('a'), 'utf8')).toBe('one\ntwo\nthree\n');
    expect(readFileSync(at('twin2'), 'utf8')).toBe('back\n');

    // What the caller removed or changed since is a conflict, and so is all that depends on it.
    await runtime.run(
      'echo four >> a; sed -i s/g/G/ gone; rm -r d f; echo file > d; mkdir f; echo in > f/inner',
    );
    for (const name of ['a', 'gone']) rmSync(at(name));
    writeFileSync(at('d/x'), 'mine\n');
    writeFileSync(at('f'), 'mine\n');
    const { conflicts, applied } = await runtime.apply(repo, { onConflict: 'skip' });
    expect(applied).toBe(true);
    expect(conflicts.map(({ path, reason }) => `${path} ${reason}`)).toEqual([
      'a removed',
      'd removed',
      'd/x removed',
      'd changed',
      'f removed',
      'f changed',
      'f/inner parent',
      'gone removed',
    ]);
    expect([existsSync(at('a')), existsSync(at('gone'))]).toEqual([false, false]);
    expect([readFileSync(at('d/x'), 'utf8'), readFileSync(at('f'), 'utf8')]).toEqual(['mine\n', 'mine\n']);

    const { changes } = await runtime.apply(repo, { onConflict: 'overwrite' });
    expect(changes.map(({ path }) => path)).toContain('f/inner');
    expect([readFileSync(at('f/inner'), 'utf8'), readFileSync(at('d'), 'utf8')]).toEqual(['in\n', 'file\n']);

    const first = await runtime.checkpoint();
    await runtime.run('echo precious > p');
    const { recovery } = await runtime.rewind(first);
    await runtime.rewind(recovery);
    expect((await runtime.read('p')).content).toBe('precious\n');
  },
);

it('goes back behind what it applied, in all runtimes that share the directory', async () => {
  const repo = directory({
    a: 'one\n',
    g: 'g\n',
    'd/x': 'x\n',
    'd/y': 'y\n',
    'gone/deep/z': 'z\n',
    mine: 'mine\n',
  });
  const look = 'find . -type f -exec tail -v -n +1 {} + | sort; find . | sort';
  await using runtime = await open(repo);
  await runtime.run('mkdir own; echo 1 > own/before');
  const began = (await runtime.run(look)).output;
  const first = await runtime.checkpoint();
  const [fork] = await runtime.fork({ from: first });
  await using other = fork as Runtime;
  const origin = other.checkpoints()[0]?.id ?? '';
  await other.run('echo 2 > own/other');
  const second = await other.checkpoint();

  await runtime.run(
    'echo two > a; rm g; rm -r gone; rm -r d; echo file > d; mkdir -p new/deep; echo n > new/deep/n; echo 1 > own/after',
  );
  const changed = (await runtime.run(look)).output;
  expect(await runtime.apply(repo)).toMatchObject({ applied: true, conflicts: [] });
  expect(existsSync(join(repo, 'g'))).toBe(false);
  const { recovery } = await runtime.rewind(first);
  expect((await runtime.run(look)).output).toBe(began);
  expect(await runtime.diff(first, origin)).toEqual([]);
  expect(await other.diff(origin, second)).toMatchObject([{ path: 'own/other' }]);
  const [late] = await runtime.fork({ from: first });
  await using third = late as Runtime;
  expect((await third.run(look)).output).toBe(began);

  // Taking the old state over undoes the change there, too.
  expect(await runtime.apply(repo)).toMatchObject({ applied: true, conflicts: [] });
  expect(['a', 'g', 'd/x', 'gone/deep/z'].map((name) => readFileSync(join(repo, name), 'utf8'))).toEqual([
    'one\n',
    'g\n',
    'x\n',
    'z\n',
  ]);
  expect(existsSync(join(repo, 'new'))).toBe(false);
  await runtime.rewind(recovery);
  expect((await runtime.run(look)).output).toBe(changed);
});

it('shows a fork no name that an apply brought and another one took away', async () => {
  const repo = directory({ a: 'one\n' });
  await using runtime = await open(repo);
  await runtime.run('mkdir d');
  const first = await runtime.checkpoint();
  await runtime.run('echo x > d/x');
  await runtime.apply(repo);
  await runtime.run('rm -r d');
  await runtime.apply(repo);
  expect(existsSync(join(repo, 'd'))).toBe(false);
  const [fork] = await runtime.fork({ from: first });
  await using other = fork as Runtime;
  expect((await other.run('ls -A d')).output).toBe('');
});

it('brings a fork back that saw what another runtime applied', async () => {
  const repo = directory({ a: 'one\n', g: 'g\n', 'd/x': 'x\n' });
  const look = 'tail -v -n +1 $(find . -type f | sort)';
  await using runtime = await open(repo);
  const [fork] = await runtime.fork();
  await using other = fork as Runtime;
  const began = (await other.run(look)).output;
  const [origin] = other.checkpoints();
  await runtime.run('echo two > a; rm g; echo two > d/x; echo n > d/n');
  expect(await runtime.apply(repo)).toMatchObject({ applied: true });
  await other.run('echo mine > mine');
  await other.rewind(origin?.id ?? '');
  expect((await other.run(look)).output).toBe(began);
});

it('leaves alone what the caller changed after the plan', async () => {
  const [before, after] = [directory({ a: '1', b: '1', c: '1' }), directory({ a: '2', new: '2', c: '2' })];
  const target = directory({ a: '1', b: '1', c: '1' });
  const { writes, conflicts } = await planChanges({
    before: { base: before },
    after: { base: after },
    target,
  });
  expect(conflicts).toEqual([]);
  for (const name of ['a', 'b', 'new']) writeFileSync(join(target, name), 'edited');
  const { late } = await writeChanges(target, { base: after }, writes);
  expect([...late].sort()).toEqual(['a', 'b', 'new']);
  expect(['a', 'b', 'new', 'c'].map((name) => readFileSync(join(target, name), 'utf8'))).toEqual([
    'edited',
    'edited',
    'edited',
    '2',
  ]);
});

it('writes nothing when a part of the new content is gone', async () => {
  const [before, after] = [directory({ a: 'old' }), directory({ a: 'new', b: 'new' })];
  const { writes } = await planChanges({ before: { base: before }, after: { base: after }, target: before });
  rmSync(join(after, 'b'));
  await expect(writeChanges(before, { base: after }, writes)).rejects.toMatchObject({ code: 'file-changed' });
  expect(readdirSync(before)).toEqual(['a']);
  expect(readFileSync(join(before, 'a'), 'utf8')).toBe('old');
});

it('removes nothing before all else is in place, and keeps what others staged', async () => {
  const old = Object.fromEntries(Array.from({ length: 50 }, (_, index) => [`a${index}`, 'old']));
  const [before, after] = [directory({ ...old, z: '1' }), directory({ z: '2', y: '2' })];
  const target = directory({ ...old, z: '1', '.workcell-apply-999999999-x/0': 'staged' });
  const { writes } = await planChanges({ before: { base: before }, after: { base: after }, target });
  // Ends at the first removal, as a kill may.
  const stopped = writes.map((write) => ({
    ...write,
    get expected() {
      if (write.change === 'removed') throw new Error('killed');
      return write.expected;
    },
  }));
  await expect(writeChanges(target, { base: after }, stopped)).rejects.toThrow('killed');
  expect(['a0', 'a49', 'z', 'y'].map((name) => readFileSync(join(target, name), 'utf8'))).toEqual([
    'old',
    'old',
    '2',
    '2',
  ]);
  expect(existsSync(join(target, '.workcell-apply-999999999-x/0'))).toBe(true);
});

it('leaves git alone unless told to take it over', async () => {
  const repo = directory({
    a: '1\n',
    '.git/HEAD': 'ref: refs/heads/main\n',
    '.git/index': 'mine',
    'sub/b': '1\n',
  });
  const at = (name: string) => join(repo, name);
  await using runtime = await open(repo);
  await runtime.run(
    'echo 2 > a; mkdir .git/hooks sub/.git; echo evil > .git/hooks/pre-commit; echo x > .git/index; echo e > sub/.git/config',
  );
  const { changes, leftOut } = await runtime.apply(repo);
  expect(changes.map(({ path }) => path)).toEqual(['a']);
  expect(leftOut).toEqual(['.git', 'sub/.git']);
  expect(readFileSync(at('.git/index'), 'utf8')).toBe('mine');
  expect([existsSync(at('.git/hooks')), existsSync(at('sub/.git'))]).toEqual([false, false]);
  expect((await runtime.apply(repo, { git: true })).leftOut).toBeUndefined();
  expect(readFileSync(at('.git/hooks/pre-commit'), 'utf8')).toBe('evil\n');
});

it('leaves alone what is git on a file system that ignores case or shortens names', async () => {
  const repo = directory({ a: '1\n' });
  await using runtime = await open(repo);
  await runtime.run(
    "mkdir -p .GIT/hooks '.git. ' git~1 .github; touch .GIT/hooks/x '.git. /x' git~1/x .github/x .gitignore git~",
  );
  const { changes, leftOut } = await runtime.apply(repo);
  expect(changes.map(({ path }) => path)).toEqual(['.github', '.github/x', '.gitignore', 'git~']);
  expect(leftOut).toEqual(['.GIT', '.git. ', 'git~1']);
});
