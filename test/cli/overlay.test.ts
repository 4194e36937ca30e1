import {
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { temporaryDirectory } from '../../src/base/own-directory.js';
import { sweepAbandoned } from '../../src/cell/launchers/scratch.js';
import { start, workcell } from './workcell.js';

const nobody = 65_534;

/** Has a program run some source before anything else of it. */
const preloaded = (source: string) => ({
  NODE_OPTIONS: `--import data:text/javascript,${encodeURIComponent(`
    import fs, { readdirSync, writeFileSync } from 'node:fs';
    import promises from 'node:fs/promises';
    import { spawnSync } from 'node:child_process';
    import { syncBuiltinESMExports } from 'node:module';
    ${source}
    syncBuiltinESMExports();`)}`,
});

/** Between its plan of what to apply and its staging of the content. */
const beforeStaging = (source: string) =>
  preloaded(`const { mkdirSync } = fs;
    fs.mkdirSync = (path, ...words) => {
      if (String(path).includes('.workcell-apply-')) { ${source} }
      return mkdirSync(path, ...words);
    };`);
const root = mkdtempSync(join(tmpdir(), 'overlay-cli-'));
const state = mkdtempSync(join(tmpdir(), 'overlay-state-'));
for (const path of [root, state]) chownSync(path, nobody, nobody);
afterAll(() => {
  for (const path of [root, state]) rmSync(path, { recursive: true, force: true });
});

it('lists what a command changed, and takes it over for a user without privileges', async () => {
  writeFileSync(join(root, 'old'), 'old\n');
  writeFileSync(join(root, 'gone'), 'gone\n');
  for (const name of ['old', 'gone']) chownSync(join(root, name), nobody, nobody);
  const command =
    'stat -f -c %T .; rm gone; mkdir -m 0 locked; echo new > old; mkdir made; echo x > made/file; head -c 300000 /dev/urandom > sealed; chmod 0 sealed';
  const run = (...options: string[]) =>
    workcell(['run', '--backend', 'sandbox', '--no-config', '--overlay', ...options, command], {
      cwd: root,
      uid: nobody,
      env: { XDG_STATE_HOME: state },
    });
  const tried = await run();
  expect(tried).toMatchObject({ exitCode: 0, stdout: 'overlayfs\n' });
  expect(tried.stderr.split('\n').slice(0, 6)).toEqual([
    'D  gone',
    'A  locked',
    'A  made',
    'A  made/file',
    'M  old',
    'A  sealed',
  ]);
  expect(tried.stderr).toContain('are kept as');
  expect(readdirSync(root).sort()).toEqual(['gone', 'old']);
  const applied = await run('--apply');
  expect(applied.stderr).toContain('applied 6 changes');
  expect(readdirSync(root).sort()).toEqual(['locked', 'made', 'old', 'sealed']);
  expect(statSync(join(root, 'sealed'))).toMatchObject({ size: 300_000, mode: 0o100000 });
  expect(readFileSync(join(root, 'old'), 'utf8')).toBe('new\n');
  expect(existsSync(join(root, 'gone'))).toBe(false);
});

describe('kept changes', () => {
  const repository = (name: string, files: Record<string, string>): string => {
    const path = join(root, name);
    mkdirSync(path);
    chownSync(path, nobody, nobody);
    for (const [file, content] of Object.entries(files)) {
      writeFileSync(join(path, file), content);
      chownSync(join(path, file), nobody, nobody);
    }
    return path;
  };
  const callWith = (env: Record<string, string>, cwd: string, ...words: string[]) =>
    workcell(words, { cwd, uid: nobody, env: { XDG_STATE_HOME: join(state, basename(cwd)), ...env } });
  const call = (cwd: string, ...words: string[]) => callWith({}, cwd, ...words);
  const change = (cwd: string, command: string) =>
    call(cwd, 'run', '--backend', 'sandbox', '--no-config', '--overlay', command);

  const placesOf = (name: string) => {
    const all = join(state, name, 'workcell/overlays');
    return (readdirSync(all, { recursive: true }) as string[]).filter((path) => /^[^/]+\/[^/]+$/.test(path));
  };

  it('are shown, previewed and applied later, without loss of what somebody else changed', async () => {
    const place = repository('kept', { text: 'one\ntwo\n', mine: 'mine\n', gone: 'gone\n' });
    const ran = await change(
      place,
      'echo three >> text; echo theirs > mine; rm gone; mkdir new; printf "\\0" > new/binary; mkdir .git; touch .git/x',
    );
    const id = /kept as ([0-9a-f]{8})/.exec(ran.stderr)?.[1] ?? '';
    expect(id).not.toBe('');
    const kept = await call(place, 'diff');
    expect(kept).toMatchObject({ exitCode: 0 });
    expect(kept.stdout).toContain('+three\n');
    expect(kept.stdout).toContain('A  "new/binary"  1 bytes');
    expect(JSON.parse((await call(place, 'diff', '--list', '--json')).stdout)).toMatchObject([
      { id, changes: 7 },
    ]);
    const refused = await call(root, 'diff');
    expect(refused).toMatchObject({ exitCode: 66 });

    writeFileSync(join(place, 'mine'), 'changed by me\n');
    const preview = await call(place, 'apply', '--preview');
    expect(preview).toMatchObject({ exitCode: 65 });
    expect(preview.stdout.split('\n')).toContain('C  mine');
    const stopped = await call(place, 'apply', id);
    expect([stopped.exitCode, readFileSync(join(place, 'text'), 'utf8')]).toEqual([65, 'one\ntwo\n']);
    const skipped = await call(place, 'apply', '--on-conflict', 'skip', '--json');
    expect([skipped.exitCode, JSON.parse(skipped.stdout)]).toMatchObject([
      0,
      { applied: true, leftOut: ['.git'] },
    ]);
    expect(readdirSync(place).sort()).toEqual(['mine', 'new', 'text']);
    expect(readFileSync(join(place, 'mine'), 'utf8')).toBe('changed by me\n');

    // What it wrote itself is no change of others, and when all is written, nothing is kept.
    const all = await call(place, 'apply', '--on-conflict', 'overwrite', '--git');
    expect([all.exitCode, readFileSync(join(place, 'mine'), 'utf8')]).toEqual([0, 'theirs\n']);
    expect(existsSync(join(place, '.git/x'))).toBe(true);
    await call(place, 'discard');
    expect(await call(place, 'diff')).toMatchObject({ exitCode: 66 });
  });

  it('hold what --apply left out, or could not write over a change of others', async () => {
    const place = repository('rest', { one: 'one\n', two: 'two\n' });
    const apply = (command: string, env: Record<string, string> = {}) =>
      callWith(env, place, 'run', '--backend', 'sandbox', '--no-config', '--overlay', '--apply', command);
    const hook = await apply('echo new > one; mkdir .git; touch .git/hook');
    expect([hook.exitCode, readFileSync(join(place, 'one'), 'utf8')]).toEqual([0, 'new\n']);
    expect(hook.stderr).toContain('left out what it changed in .git\n');
    expect((await call(place, 'diff')).stdout).toContain('.git/hook');
    expect(await call(place, 'discard')).toMatchObject({ exitCode: 0 });

    // Somebody changes a file after the plan is made, when the content is about to be staged.
    const late = await apply(
      'echo newer > one; echo newer > two',
      beforeStaging(`writeFileSync('two', 'mine, and longer');`),
    );
    expect(late.stderr.split('\n')).toContain('C  two');
    expect(late.stderr).toContain('applied 1 changes');
    expect([late.exitCode, readFileSync(join(place, 'two'), 'utf8')]).toEqual([65, 'mine, and longer']);
    expect(readFileSync(join(place, 'one'), 'utf8')).toBe('newer\n');
    const preview = await call(place, 'apply', '--preview');
    expect([preview.exitCode, preview.stdout]).toEqual([65, 'C  two\n']);
    expect(await call(place, 'discard')).toMatchObject({ exitCode: 0 });
  });

  it('are named by the beginning of an id that only one has', async () => {
    const place = repository('ambiguous', { text: '' });
    for (const id of ['aaaa0001', 'aaaa0002']) {
      await change(place, `echo ${id} > text`);
      const all = join(state, 'ambiguous/workcell/overlays');
      const made = placesOf('ambiguous').find((path) => !basename(path).startsWith('aaaa')) ?? '';
      renameSync(join(all, made), join(all, dirname(made), id));
    }
    for (const verb of ['discard', 'apply', 'diff']) {
      const refused = await call(place, verb, 'aaaa');
      expect(refused, verb).toMatchObject({ exitCode: 64, stdout: '' });
      expect(refused.stderr, verb).toContain('aaaa0002, aaaa0001');
      expect(await call(place, verb, ''), verb).toMatchObject({ exitCode: 66 });
    }
    expect((await call(place, 'diff', 'aaaa0001')).stdout).toContain('+aaaa0001\n');
    expect(await call(place, 'discard', 'aaaa0002')).toMatchObject({ stdout: 'discarded aaaa0002\n' });
    expect(await call(place, 'discard', 'aaaa')).toMatchObject({ stdout: 'discarded aaaa0001\n' });
  });

  it('are kept while other programs remove places that are empty', async () => {
    const place = repository('vanishing', { text: '' });
    const vanish = preloaded(`
      const { mkdirSync, rmdirSync, readdirSync: list } = fs;
      let removed = 0;
      fs.mkdirSync = (path, ...words) => {
        const made = mkdirSync(path, ...words);
        if (/overlays\\/[0-9a-f]{32}$/.test(path) && removed++ < 2) rmdirSync(path);
        return made;
      };
      fs.readdirSync = (path, ...words) => {
        const other = path + '/' + '0'.repeat(32);
        if (!path.endsWith('/overlays')) return list(path, ...words);
        mkdirSync(other);
        try { return list(path, ...words); } finally { rmdirSync(other); }
      };`);
    const ran = await callWith(
      vanish,
      place,
      'run',
      '--backend',
      'sandbox',
      '--no-config',
      '--overlay',
      'echo x > text',
    );
    expect(ran).toMatchObject({ exitCode: 0, stderr: expect.stringMatching(/kept as [0-9a-f]{8}/) });
    expect(placesOf('vanishing')).toEqual([expect.stringMatching(/\/[0-9a-f]{8}$/)]);
  });

  it('go whole, wherever a kill interrupts that', async () => {
    const place = repository('killed', { text: '' });
    await change(place, 'echo x > one; echo x > two');
    const kill = preloaded(
      `promises.unlink = () => { process.kill(process.pid, 'SIGKILL'); return new Promise(() => {}); };`,
    );
    expect(await callWith(kill, place, 'discard')).toMatchObject({ exitCode: null });
    expect(placesOf('killed').map((path) => path.replace(/.*\/(\.gone-)?.*/, '$1'))).toContain('.gone-');
    expect(await call(place, 'diff')).toMatchObject({ exitCode: 66 });
    await change(place, 'echo x > one');
    expect(placesOf('killed').map((path) => basename(path))).toEqual([
      expect.stringMatching(/^[0-9a-f]{8}$/),
    ]);
    // What has no record that can be read keeps nobody from the rest.
    const kept = join(state, 'killed/workcell/overlays', placesOf('killed')[0] ?? '');
    mkdirSync(join(kept, '../01234567/layer'), { recursive: true });
    expect((await call(place, 'diff')).stdout).toContain('+x\n');
    expect(await call(place, 'discard', '--all')).toMatchObject({ exitCode: 0 });
  });

  it('stay while another program applies them', async () => {
    const place = repository('held', { text: '' });
    await change(place, 'echo x > one; echo x > two');
    const discard = `const { status } = spawnSync(process.execPath, [process.argv[1], 'discard'], {
        env: { ...process.env, NODE_OPTIONS: '' } });
      writeFileSync('status', String(status));`;
    const applied = await callWith(beforeStaging(discard), place, 'apply');
    expect(applied).toMatchObject({ exitCode: 0, stdout: 'A  one\nA  two\n' });
    expect(readFileSync(join(place, 'status'), 'utf8')).toBe('75');
    expect(readdirSync(place).sort()).toEqual(['one', 'status', 'text', 'two']);
    expect(placesOf('held')).toEqual([]);
  });

  it('go when told to, and the oldest when they are many', async () => {
    const place = repository('many', { text: '' });
    const ids: string[] = [];
    for (let count = 0; count < 11; count++)
      ids.unshift(
        /kept as ([0-9a-f]{8})/.exec((await change(place, `echo ${count} > text`)).stderr)?.[1] ?? '',
      );
    const listed = async () =>
      JSON.parse((await call(place, 'diff', '--list', '--json')).stdout) as { id: string }[];
    expect((await listed()).map(({ id }) => id)).toEqual(ids.slice(0, 10));
    const applied = await call(place, 'apply');
    expect([applied.exitCode, readFileSync(join(place, 'text'), 'utf8')]).toEqual([0, '10\n']);
    expect((await call(place, 'discard', ids[3] as string)).stdout).toBe(`discarded ${ids[3]}\n`);
    expect((await listed()).length).toBe(8);
    expect(await call(place, 'discard', '--all')).toMatchObject({ exitCode: 0 });
    expect(await listed()).toEqual([]);
    const places = readdirSync(join(state, 'many/workcell/overlays'), { recursive: true }) as string[];
    expect(places.filter((name) => name.includes('/'))).toEqual([]);
  });
});

it('leaves the directory as it was when its process is killed, and the next one removes the rest', async () => {
  const repository = mkdtempSync(join(tmpdir(), 'overlay-killed-'));
  writeFileSync(join(repository, 'file'), 'old');
  try {
    const command = 'rm file; mkdir -m 0 locked; echo ready; exec cat /dev/zero > /dev/null';
    const { child, ended, printed } = start(
      ['run', '--backend', 'sandbox', '--no-config', '--overlay', '--apply', command],
      { cwd: repository },
    );
    await printed('ready');
    const mine = () =>
      readdirSync(temporaryDirectory().path).filter((name) => name.includes(`-${child.pid}-`));
    expect(mine()).not.toEqual([]);
    child.kill('SIGKILL');
    await ended;
    expect(readdirSync(repository)).toEqual(['file']);
    await sweepAbandoned(temporaryDirectory());
    expect(mine()).toEqual([]);
  } finally {
    rmSync(repository, { recursive: true });
  }
});
