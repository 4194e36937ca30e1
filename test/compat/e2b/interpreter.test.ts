/** The published code interpreter of E2B, unmodified, against our service. */
import { NotFoundError, Sandbox } from '@e2b/code-interpreter';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type E2bService, startE2bService } from './e2b-service.js';

let service: E2bService;
let sandbox: Sandbox;

beforeAll(async () => {
  service = await startE2bService();
  sandbox = await Sandbox.create({ ...service.connection, envs: { ALWAYS: 'there' } });
});
afterAll(async () => {
  await sandbox.kill();
  await service.close();
});

test('code keeps its state, prints as it runs, and shows results of every kind', async () => {
  const heard: string[] = [];
  const execution = await sandbox.runCode('x = 41\nprint("printed")\nx + 1', {
    onStdout: ({ line }) => void heard.push(line),
  });
  expect(execution).toMatchObject({ text: '42', logs: { stdout: ['printed\n'], stderr: [] } });
  expect(heard).toEqual(['printed\n']);
  expect((await sandbox.runCode('"a" + str(x)')).text).toBe('a41');
  const shown = await sandbox.runCode(
    'from IPython.display import display, HTML\ndisplay(HTML("<b>b</b>"))\nNone',
  );
  expect(shown.results).toMatchObject([{ html: '<b>b</b>', isMainResult: false }]);
});

test('an error of the code is told with its traceback', async () => {
  const { error } = await sandbox.runCode('1 / 0');
  expect(error).toMatchObject({ name: 'ZeroDivisionError', value: 'division by zero' });
  expect(error?.traceback).toContain('1 / 0');
});

test('variables of one execution are gone with it', async () => {
  const code = 'import os; os.environ.get("ONLY_NOW")';
  expect((await sandbox.runCode(code, { envs: { ONLY_NOW: 'here' } })).text).toBe('here');
  expect((await sandbox.runCode(code)).text).toBeUndefined();
  const always = 'os.environ.get("ALWAYS")';
  expect((await sandbox.runCode(always, { envs: { ALWAYS: 'other' } })).text).toBe('other');
  expect((await sandbox.runCode(always)).text).toBe('there');
});

test('contexts are made, listed, restarted and removed', async () => {
  await sandbox.files.makeDir('place');
  const context = await sandbox.createCodeContext({ cwd: '/workspace/place' });
  expect((await sandbox.runCode('import os; os.getcwd()', { context })).text).toBe('/workspace/place');
  await sandbox.runCode('mine = 1', { context });
  expect((await sandbox.runCode('"mine" in globals()')).text).toBe('False');
  expect((await sandbox.listCodeContexts()).map(({ id }) => id)).toContain(context.id);
  await sandbox.restartCodeContext(context.id);
  expect((await sandbox.runCode('"mine" in globals()', { context })).text).toBe('False');
  await sandbox.removeCodeContext(context.id);
  await expect(sandbox.runCode('1', { context })).rejects.toBeInstanceOf(NotFoundError);
});

test('a limit interrupts the code, and the next code runs', async () => {
  await expect(sandbox.runCode('while True: pass', { timeoutMs: 500 })).rejects.toThrow();
  expect((await sandbox.runCode('"alive"')).text).toBe('alive');
});
