/** The published client of E2B, unmodified, against our service. */
import { CommandExitError, Sandbox } from 'e2b';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type E2bService, startE2bService } from './e2b-service.js';

let service: E2bService;
let sandbox: Sandbox;

beforeAll(async () => {
  service = await startE2bService();
  sandbox = await Sandbox.create({
    ...service.connection,
    metadata: { user: 'a b' },
    envs: { GIVEN: 'yes' },
  });
});
afterAll(async () => {
  await sandbox.kill();
  await service.close();
});

test('commands run with their output, variables and exit codes', async () => {
  const heard: string[] = [];
  const result = await sandbox.commands.run('echo out $GIVEN $OWN; echo err >&2; pwd', {
    envs: { OWN: 'too' },
    onStdout: (text) => void heard.push(text),
  });
  expect(result).toMatchObject({ exitCode: 0, stdout: 'out yes too\n/workspace\n', stderr: 'err\n' });
  expect(heard.join('')).toBe(result.stdout);
  const failed = sandbox.commands.run('echo before; exit 3');
  await expect(failed).rejects.toBeInstanceOf(CommandExitError);
  await expect(failed).rejects.toMatchObject({ exitCode: 3, stdout: 'before\n' });
});

test('files are written and read', async () => {
  const written = await sandbox.files.write('folder/hello.txt', 'hello');
  expect(written).toMatchObject({ name: 'hello.txt', path: '/workspace/folder/hello.txt' });
  expect(await sandbox.files.read('folder/hello.txt')).toBe('hello');
});

test('a killed sandbox is gone', async () => {
  const other = await Sandbox.create(service.connection);
  expect(await other.isRunning()).toBe(true);
  expect(await other.kill()).toBe(true);
  expect(await other.isRunning()).toBe(false);
  expect(await other.kill()).toBe(false);
});
