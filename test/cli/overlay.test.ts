import {
  chownSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { temporaryDirectory } from '../../src/base/own-directory.js';
import { sweepAbandoned } from '../../src/cell/launchers/scratch.js';
import { start, workcell } from './workcell.js';

const nobody = 65_534;
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
  expect(readdirSync(root).sort()).toEqual(['gone', 'old']);
  const applied = await run('--apply');
  expect(applied.stderr).toContain('applied 6 changes');
  expect(readdirSync(root).sort()).toEqual(['locked', 'made', 'old', 'sealed']);
  expect(statSync(join(root, 'sealed'))).toMatchObject({ size: 300_000, mode: 0o100000 });
  expect(readFileSync(join(root, 'old'), 'utf8')).toBe('new\n');
  expect(existsSync(join(root, 'gone'))).toBe(false);
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
