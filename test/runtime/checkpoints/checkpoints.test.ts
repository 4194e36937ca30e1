import { execFileSync } from 'node:child_process';
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { type Checkpoint, createRuntime, type WorkspaceOption } from '../../../src/index.js';
import { compareViews } from '../../../src/runtime/checkpoints/compare.js';

const root = mkdtempSync(join(tmpdir(), 'checkpoints-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));
let count = 0;

/** A directory of the caller's. */
function repository(): string {
  const path = join(root, `repo-${count++}`);
  mkdirSync(join(path, 'src/deep'), { recursive: true });
  writeFileSync(join(path, 'readme'), 'one\ntwo\nthree\nfour\nfive\nsix\nseven\n');
  writeFileSync(join(path, 'src/app.ts'), 'let a = 1;\n');
  writeFileSync(join(path, 'src/deep/leaf'), 'leaf\n');
  return path;
}

function snapshot(path: string): string {
  return execFileSync(
    'bash',
    ['-c', 'find . -printf "%p %y %m %l\n" | sort; find . -type f | sort | xargs -d "\n" -r md5sum'],
    {
      cwd: path,
      encoding: 'utf8',
    },
  );
}

const places = [
  { name: 'sandbox, overlay', backend: 'sandbox', mode: 'overlay' },
  { name: 'sandbox, copy', backend: 'sandbox', mode: 'copy' },
  { name: 'cli, copy', backend: 'cli', mode: 'overlay' },
] as const;

describe.each(places)('checkpoints on $name', ({ backend, mode }) => {
  const open = (from: string, more: Partial<WorkspaceOption> = {}) =>
    createRuntime({ config: false, backend, workspace: { from, mode, ...more }, plugins: [], tools: [] });

  it('leaves the caller’s directory alone, and says what changed', async () => {
    const repo = repository();
    const before = snapshot(repo);
    await using runtime = await open(repo);
    await runtime.run(
      'echo "let b = 2;" >> src/app.ts; rm readme; mkdir new; echo x > new/file; ln -s /etc/passwd link; rm -rf src/deep; mkdir src/deep; echo other > src/deep/other',
    );
    expect(snapshot(repo)).toBe(before);
    const { output: kind } = await runtime.run('stat -f -c %T .');
    expect(kind.trim() === 'overlayfs').toBe(backend === 'sandbox' && mode === 'overlay');
    const changes = await runtime.diff();
    expect(changes.map(({ path, change, kind }) => `${change} ${kind} ${path}`)).toEqual([
      'added link link',
      'added directory new',
      'added file new/file',
      'removed file readme',
      'changed file src/app.ts',
      'removed file src/deep/leaf',
      'added file src/deep/other',
    ]);
    expect(changes.find(({ path }) => path === 'src/app.ts')?.patch).toContain('+let b = 2;');
  });

  it('goes back, keeps the present, and goes forth again', async () => {
    await using runtime = await open(repository());
    await runtime.run('cd src; echo 1 > state; chmod 600 app.ts');
    const first = await runtime.checkpoint('first');
    await runtime.run(
      'echo 2 > state; rm app.ts; rm -rf deep; mkdir deep; echo n > deep/new; mv state renamed',
    );
    const second = await runtime.checkpoint();
    const { recovery, changes } = await runtime.rewind(first);
    expect(changes.map(({ path }) => path)).toContain('src/app.ts');
    // The shell lives on, where it was.
    const { output } = await runtime.run('pwd; cat state; stat -c %a app.ts; cat deep/leaf; ls deep');
    expect(output.trim().split(/\s+/).slice(1)).toEqual(['1', '600', 'leaf', 'leaf']);
    expect(await runtime.diff(recovery, second)).toEqual([]);
    await runtime.rewind(second.id);
    expect((await runtime.run('cat renamed; ls deep; ls')).output.trim().split(/\s+/)).toEqual([
      '2',
      'new',
      'deep',
      'renamed',
    ]);
    expect(
      runtime
        .checkpoints()
        .map(({ id }) => id)
        .slice(0, 2),
    ).toEqual([first.id, second.id]);
  });

  it('forks into runtimes that share nothing that either can change', async () => {
    await using runtime = await open(repository());
    await runtime.run('echo common > common; rm readme');
    const [a, b] = (await runtime.fork({ count: 2 })) as [typeof runtime, typeof runtime];
    await using first = a;
    await using second = b;
    await Promise.all([
      first.run('echo a > mine; echo a >> common'),
      second.run('echo b > mine; rm src/app.ts'),
    ]);
    expect((await runtime.run('ls; cat common')).output.trim().split(/\s+/)).toEqual([
      'common',
      'src',
      'common',
    ]);
    expect((await second.run('cat mine common; ls src')).output.trim().split(/\s+/)).toEqual([
      'b',
      'common',
      'deep',
    ]);
    expect((await runtime.diff(first, second)).map(({ path }) => path)).toEqual([
      'common',
      'mine',
      'src/app.ts',
    ]);
    // A fork of a fork, after the first runtime has ended.
    const later = await first.checkpoint();
    await first.run('echo more > more');
    await runtime.close();
    const [c] = await first.fork({ from: later });
    await using third = c as typeof runtime;
    expect((await third.run('ls; cat mine')).output.trim().split(/\s+/)).toEqual([
      'common',
      'mine',
      'src',
      'a',
    ]);
    expect((await first.merge(third)).conflicts).toEqual([]);
  });

  it('takes changes over after a preview, and never the caller’s own', async () => {
    const repo = repository();
    await using runtime = await open(repo);
    await runtime.run(
      'echo "let b = 2;" >> src/app.ts; echo n > new; sed -i s/one/ONE/ readme; rm -r src/deep',
    );
    writeFileSync(join(repo, 'readme'), 'mine\n');
    writeFileSync(join(repo, 'own'), 'own\n');
    const preview = await runtime.apply(repo, { preview: true });
    expect(preview.applied).toBe(false);
    expect(preview.conflicts).toEqual([{ path: 'readme', reason: 'changed' }]);
    expect(preview.changes.map(({ path }) => path)).toEqual([
      'new',
      'src/app.ts',
      'src/deep',
      'src/deep/leaf',
    ]);
    const stopped = await runtime.apply(repo);
    expect([stopped.applied, existsSync(join(repo, 'new'))]).toEqual([false, false]);
    expect((await runtime.apply(repo, { onConflict: 'skip' })).applied).toBe(true);
    expect(readFileSync(join(repo, 'readme'), 'utf8')).toBe('mine\n');
    expect(readdirSync(repo).sort()).toEqual(['new', 'own', 'readme', 'src']);
    expect(readdirSync(join(repo, 'src'))).toEqual(['app.ts']);
  });

  it('merges a fork, line by line where both changed a file', async () => {
    await using runtime = await open(repository());
    const [fork] = await runtime.fork();
    await using other = fork as typeof runtime;
    await runtime.run('sed -i s/one/ONE/ readme; echo mine > both');
    await other.run('sed -i s/seven/SEVEN/ readme; echo theirs > both; echo o > other');
    expect(await runtime.merge(other)).toMatchObject({
      applied: false,
      conflicts: [{ path: 'both', reason: 'changed' }],
    });
    expect((await runtime.merge(other, { onConflict: 'skip' })).applied).toBe(true);
    expect(
      (await runtime.run('head -1 readme; tail -1 readme; cat both other')).output.trim().split(/\s+/),
    ).toEqual(['ONE', 'SEVEN', 'mine', 'o']);
  });

  it('brings hostile content through, and never follows it', async () => {
    await using runtime = await open(repository());
    const secret = join(root, 'secret');
    writeFileSync(secret, 'secret');
    await runtime.run(
      [
        `ln -s ${secret} to-secret; ln -s ${root} to-root; ln -s . loop; mkfifo pipe`,
        "mkdir -p 'a\nb' $'bytes-\\xff' Case case; echo 1 > Case/x; echo 2 > case/x; touch -- -rf",
        'rm -rf src; ln -s /etc src; mkdir locked; echo in > locked/file; chmod 0 locked/file; chmod 0 locked',
        'truncate -s 1T huge; mkdir .workcell-apply-1-x; ln readme twin',
      ].join('\n'),
    );
    const before = await runtime.checkpoint();
    await runtime.run('chmod 700 locked; rm -rf ./* ./.w*; mkdir src; echo mine > src/passwd');
    await runtime.rewind(before);
    const { output } = await runtime.run(
      'readlink to-secret src; cat Case/x case/x; stat -c %a locked; stat -c %s huge; test -p pipe && echo pipe; ls -d bytes-*',
    );
    expect(output.trim().split('\n').slice(0, 7)).toEqual([
      secret,
      '/etc',
      '1',
      '2',
      '0',
      String(2 ** 40),
      'pipe',
    ]);
    const target = join(root, `target-${count++}`);
    mkdirSync(target);
    const { applied } = await runtime.apply(target, { onConflict: 'overwrite' });
    expect(applied).toBe(true);
    expect(lstatSync(join(target, 'to-secret')).isSymbolicLink()).toBe(true);
    expect(readFileSync(secret, 'utf8')).toBe('secret');
    expect(existsSync('/etc/leaf')).toBe(false);
  });

  it('leaves alone the large files that are the same, and can be cancelled while it compares them', async () => {
    const place = repository();
    writeFileSync(join(place, 'large'), '');
    truncateSync(join(place, 'large'), 68_000_000);
    const runtime = await open(place);
    const goal = await runtime.checkpoint();
    await runtime.write('readme', 'other');
    const { changes } = await runtime.rewind(goal, { recovery: false });
    expect(changes.map(({ path }) => path)).toEqual(['readme']);
    await runtime.close();

    const [one, other] = [repository(), repository()];
    for (const path of [one, other]) {
      writeFileSync(join(path, 'large'), '');
      truncateSync(join(path, 'large'), 2 ** 32);
    }
    const controller = new AbortController();
    const options = { mostBytes: Infinity, signal: controller.signal };
    const comparing = compareViews({ base: one }, { base: other }, options);
    setImmediate(() => controller.abort());
    await expect(comparing).rejects.toMatchObject({ code: 'cancelled' });
  });

  it('keeps the newest checkpoints, refuses what is too large, and leaves nothing behind', async () => {
    const before = leftovers();
    const runtime = await open(repository(), { keep: 3, maxFiles: 20 });
    for (let round = 0; round < 6; round++) {
      await runtime.write('state', String(round));
      await runtime.checkpoint(`round ${round}`);
    }
    expect(runtime.checkpoints().map(({ label }) => label)).toEqual(['round 3', 'round 4', 'round 5']);
    const [oldest] = runtime.checkpoints();
    await runtime.rewind(oldest as Checkpoint);
    expect((await runtime.read('state')).content).toBe('3');
    await runtime.run('touch file-{1..30}');
    await expect(runtime.checkpoint()).rejects.toMatchObject({ code: 'file-too-large' });
    await expect(runtime.rewind(oldest as Checkpoint)).rejects.toThrow('recovery: false');
    const { changes } = await runtime.rewind(oldest as Checkpoint, { recovery: false });
    expect(changes.length).toBe(30);
    expect((await runtime.run('ls')).output.trim().split(/\s+/)).toEqual(['readme', 'src', 'state']);
    expect(await runtime.diff(oldest)).toEqual([]);
    const events = [];
    for await (const event of runtime.events.since(0)) {
      if (event.kind === 'checkpoint') events.push(event.checkpoint.change);
      if (events.includes('rewound')) break;
    }
    expect(events.filter((change) => change === 'created').length).toBeGreaterThanOrEqual(6);
    await runtime.close();
    expect(leftovers()).toEqual(before);
  });
});

/** What this process has in its directory for temporary files. */
function leftovers(): string[] {
  const own = join(tmpdir(), `workcell-${process.geteuid?.()}`);
  const mine = readdirSync(own).filter((name) => name.includes(`-${process.pid}-`));
  return mine
    .flatMap((name) => readdirSync(join(own, name)))
    .filter((name) => /^(workspace|layers)-/.test(name));
}
