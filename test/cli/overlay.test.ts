import {
  chownSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { workcell } from './workcell.js';

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
    'stat -f -c %T .; rm gone; mkdir -m 0 locked; echo new > old; mkdir made; echo x > made/file';
  const run = (...options: string[]) =>
    workcell(['run', '--backend', 'sandbox', '--no-config', '--overlay', ...options, command], {
      cwd: root,
      uid: nobody,
      env: { XDG_STATE_HOME: state },
    });
  const tried = await run();
  expect(tried).toMatchObject({ exitCode: 0, stdout: 'overlayfs\n' });
  expect(tried.stderr.split('\n').slice(0, 5)).toEqual([
    'D  gone',
    'A  locked',
    'A  made',
    'A  made/file',
    'M  old',
  ]);
  expect(readdirSync(root).sort()).toEqual(['gone', 'old']);
  const applied = await run('--apply');
  expect(applied.stderr).toContain('applied 5 changes');
  expect(readdirSync(root).sort()).toEqual(['locked', 'made', 'old']);
  expect(readFileSync(join(root, 'old'), 'utf8')).toBe('new\n');
  expect(existsSync(join(root, 'gone'))).toBe(false);
});
