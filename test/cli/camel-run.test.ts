/** `workcell camel-run` and the `python3` that it hands on. */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { withDirectory, workcell } from './workcell.js';

test('takes the python3 of a project only while its environment is activated', () =>
  withDirectory(async (project) => {
    const environment = join(project, '.venv');
    const ran = join(project, 'ran');
    mkdirSync(join(environment, 'bin'), { recursive: true });
    const script = `#!/bin/sh\ntouch '${ran}'\necho /bin/echo\n`;
    writeFileSync(join(environment, 'bin/python3'), script, { mode: 0o755 });
    const PATH = `${environment}/bin:.:/usr/local/bin:/usr/bin:/bin`;
    const words = ['camel-run', '--', 'sh', '-c', 'python3 -c "print(42)"'];
    const own = await workcell(words, { env: { PATH }, cwd: project });
    expect(own).toMatchObject({ exitCode: 0, stdout: '42\n' });
    expect(existsSync(ran)).toBe(false);
    const activated = await workcell(words, { env: { PATH, VIRTUAL_ENV: environment }, cwd: project });
    expect(activated).toMatchObject({ exitCode: 0, stdout: '-c print(42)\n' });
    expect(existsSync(ran)).toBe(true);
  }));

test("the program's Python starts with the modules that it had", () =>
  withDirectory(async (folder) => {
    writeFileSync(join(folder, 'sitecustomize.py'), 'print("its own")\n');
    writeFileSync(join(folder, 'other.py'), 'value = 42\n');
    const words = ['camel-run', '--', 'python3', '-c', 'import other; print(other.value)'];
    const its = { env: { PYTHONPATH: folder }, cwd: '/' };
    expect(await workcell(words, its)).toMatchObject({ exitCode: 0, stdout: 'its own\n42\n', stderr: '' });
    const path = 'import sys; print([path for path in sys.path if "camel" in path])';
    const without = await workcell(['camel-run', '--', 'python3', '-c', path], { cwd: '/' });
    expect(without).toMatchObject({ exitCode: 0, stdout: '[]\n', stderr: '' });
  }));

test.each([
  ['HUP', 129],
  ['ABRT', 134],
  ['KILL', 137],
  ['SEGV', 139],
])('a program that SIG%s ends is told with exit code %i', async (signal, exitCode) => {
  expect(await workcell(['camel-run', '--', 'sh', '-c', `kill -${signal} $$`])).toMatchObject({ exitCode });
});
