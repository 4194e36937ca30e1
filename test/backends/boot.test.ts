/** The boot protocol, between what plugins and programs on the way print. */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { awaitHandshake, findHandshake, LogTail } from '../../src/backends/await-handshake.js';
import { executorCommand } from '../../src/backends/executor-program.js';
import { startProgram } from '../../src/backends/server-process.js';
import { fromInput, handshakeMark } from '../../src/cell/server/boot-protocol.js';
import { defineAction } from '../../src/protocol/index.js';
import { connectExecutor } from '../../src/runtime/client/http-executor.js';
import { refusal } from '../../src/testing/contract/given.js';
import { builtFile } from '../built-file.js';

const print = defineAction('print', { summary: 'Prints.', input: {}, kinds: {}, output: {} });

test('a program whose settings do not come in time ends, though its input stays open', async () => {
  const [program = '', ...words] = executorCommand();
  const child = spawn(program, [...words, 'cell', fromInput, '100'], {
    stdio: ['pipe', 'ignore', 'inherit'],
  });
  expect(await once(child, 'exit')).toEqual([0, null]);
});

test('a program whose plugins print says that it listens, and goes on when nobody reads what they print', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'boot-'));
  const [program = '', ...words] = executorCommand();
  const child = spawn(program, [...words, 'cell', fromInput, '600000'], { stdio: 'pipe' });
  try {
    const plugin = fileURLToPath(new URL('../fixtures/printing-plugin.mjs', import.meta.url));
    const socketPath = join(directory, 'socket');
    const settings = {
      id: 'printing',
      socketPath,
      workspace: directory,
      env: {},
      keepAlive: true,
      plugins: [plugin],
    };
    let printed = '';
    child.stderr.setEncoding('utf8').on('data', (text) => {
      printed += text;
    });
    const log = new LogTail();
    const said = new Promise<string>((resolve) =>
      child.stdout.setEncoding('utf8').on('data', findHandshake(resolve, log)),
    );
    child.stdin.write(`${JSON.stringify(settings)}\n`);
    expect(JSON.parse(await said)).toMatchObject({ ready: true });
    // Its starter goes away: first with what it read of the output, then with the log.
    child.stdout.destroy();
    const { executor } = await connectExecutor({ socketPath }, { actions: { print } });
    const call = () => executor.execute({ action: 'print' } as never);
    for (let count = 0; count < 8; count++) expect(await call()).toEqual({ observation: 'print' });
    expect(log.lines).toEqual([]);
    for (const line of ['printed while loading', 'printed while starting', 'printed in a call'])
      expect(printed).toContain(line);
    child.stderr.destroy();
    for (let count = 0; count < 8; count++) expect(await call()).toEqual({ observation: 'print' });
    await executor.close();
  } finally {
    child.kill('SIGKILL');
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
    rmSync(directory, { recursive: true });
  }
});

function starting(script: string) {
  return startProgram({ who: 'It', argv: ['sh', '-c', `read -r settings; ${script}`], directory: '/' });
}

test('the handshake is found among lines of others, which go to the log', async () => {
  const server = starting(
    `echo welcome; echo '{"ready":true}'; printf part; printf '\\n%s\\n' '${handshakeMark}{"ready":true}'; read -r more`,
  );
  expect(await server.begin({})).toEqual({ ready: true });
  expect(server.log.lines).toEqual(['welcome', '{"ready":true}', 'part']);
  await server.end();
});

test('a program that prints and ends has not started', async () => {
  const server = starting('echo welcome; exit 3');
  const { message } = await refusal(server.begin({}), 'backend-unavailable');
  expect(message).toContain('It did not start: it exited with code 3.');
  await server.end();
});

test('the reason that a program gives is told, also when its end is known first', async () => {
  const error = { code: 'invalid-config', message: 'The option colour is not accepted.' };
  const said = new Promise<string>((resolve) => setImmediate(() => resolve(JSON.stringify({ error }))));
  const booting = { who: 'It', said, ended: Promise.resolve('it exited with code 1'), limitMs: 30_000 };
  expect((await refusal(awaitHandshake(booting), 'invalid-config')).message).toBe(
    'The option colour is not accepted.',
  );
  const silent = { ...booting, said: Promise.resolve(undefined) };
  expect((await refusal(awaitHandshake(silent), 'backend-unavailable')).message).toContain(
    'exited with code 1',
  );
});

test('the end of a program that said nothing is told, though nothing else keeps its starter alive', async () => {
  const program = `
    import { awaitHandshake } from ${JSON.stringify(pathToFileURL(builtFile('backends/await-handshake.js')).href)};
    const said = Promise.resolve(undefined);
    const ended = new Promise((resolve) => setTimeout(() => resolve('it ended with code 1'), 200).unref());
    const { message } = await awaitHandshake({ who: 'It', said, ended, limitMs: 60_000 }).catch((error) => error);
    console.log(message);`;
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', program]);
  expect(stdout).toBe('It did not start: it ended with code 1.\n');
});
