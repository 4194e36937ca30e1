/** Commands under another user than the server. Needs root, as the server does. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, chownSync, existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createRuntime, type Runtime } from '../../../src/index.js';
import { refusal } from '../../../src/testing/contract/given.js';
import { builtFile } from '../../built-file.js';

const uid = 54_321;
const gid = 54_322;
const token = 'a-token-that-commands-must-not-see';

describe.runIf(process.getuid?.() === 0)('a server that runs commands as another user', () => {
  let folder: string;
  let child: ChildProcess;
  let runtime: Runtime;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'run-as-'));
    chmodSync(folder, 0o711);
    const workspace = join(folder, 'workspace');
    const { mkdirSync } = await import('node:fs');
    mkdirSync(workspace);
    chownSync(workspace, uid, gid);
    writeFileSync(join(workspace, 'of-root'), 'x', { mode: 0o600 });
    writeFileSync(join(folder, 'token'), token, { mode: 0o600 });
    const argv = ['executor', '--listen', 'tcp:127.0.0.1:0', '--token-file', join(folder, 'token')];
    child = spawn(
      process.execPath,
      [builtFile('cli/main.cjs'), ...argv, '--workspace', workspace, '--run-as', `${uid}:${gid}`],
      { stdio: ['ignore', 'pipe', 'inherit'], env: { ...process.env, SECRET_OF_SERVER: 'hidden' } },
    );
    const [line] = await once(child.stdout as NodeJS.ReadableStream, 'data');
    const url = /http:\S+/.exec(String(line))?.[0] ?? '';
    runtime = await createRuntime({ backend: 'remote', url, token });
  });

  afterAll(async () => {
    await runtime?.close();
    child?.kill('SIGTERM');
    rmSync(folder, { recursive: true, force: true });
  });

  test('its socket goes with it, though only the first user may remove it', async () => {
    const socketPath = join(folder, 'socket');
    const argv = ['executor', '--listen', `unix:${socketPath}`, '--workspace', runtime.workspace];
    const server = spawn(
      process.execPath,
      [builtFile('cli/main.cjs'), ...argv, '--run-as', `${uid}:${gid}`],
      {
        stdio: ['ignore', 'pipe', 'inherit'],
      },
    );
    await once(server.stdout as NodeJS.ReadableStream, 'data');
    expect(existsSync(socketPath)).toBe(true);
    server.kill('SIGTERM');
    expect(await once(server, 'exit')).toEqual([0, null]);
    expect(existsSync(socketPath)).toBe(false);
  });

  const output = async (command: string) => (await runtime.run(command, { timeoutMs: 20_000 })).output.trim();

  test('shells, processes and terminals have that user, that group and nothing more', async () => {
    const expected = new RegExp(
      [
        `Uid:(\\s+${uid}){4}`,
        `Gid:(\\s+${gid}){4}`,
        'Groups:\\s*',
        'CapPrm:\\s+0+',
        'CapEff:\\s+0+',
        'NoNewPrivs:\\s+1',
      ].join('[\\s\\S]*'),
    );
    expect(await output('cat /proc/self/status')).toMatch(expected);
    const { id } = await runtime.processes.start(['cat', '/proc/self/status']);
    expect((await runtime.processes.wait(id)).stdout).toMatch(expected);
    const terminal = await runtime.terminals.open({ argv: ['cat', '/proc/self/status'] });
    let text = '';
    for await (const chunk of terminal.output) text += Buffer.from(chunk).toString();
    expect(text).toMatch(expected);
  });

  test('files that file verbs write belong to that user', async () => {
    await runtime.write('deep/written', 'x');
    await runtime.files.upload(Buffer.from('x'), 'uploaded');
    for (const name of ['deep', 'deep/written', 'uploaded']) {
      const { uid: owner, gid: group } = statSync(join(runtime.workspace, name));
      expect([name, owner, group]).toEqual([name, uid, gid]);
    }
    expect(await output('echo more >> deep/written && cat deep/written')).toBe('xmore');
  });

  test('file verbs have no more rights than that user', async () => {
    await refusal(runtime.read('of-root'), 'permission-denied');
  });

  test('the token, the environment, the memory and the descriptors of the server are out of reach', async () => {
    const server = child.pid;
    expect(await output(`cat ${join(folder, 'token')} 2>&1`)).toContain('Permission denied');
    for (const file of ['environ', 'mem', 'maps', 'fd/0']) {
      expect(await output(`head -c 1 /proc/${server}/${file} 2>&1`), file).toMatch(
        /Permission denied|Operation not permitted/,
      );
    }
    expect(await output(`ls /proc/${server}/fd 2>&1`)).toContain('Permission denied');
    expect(await output(`tr '\\0' ' ' < /proc/${server}/cmdline`)).not.toContain(token);
    expect(await output('env')).not.toContain(token);
  });

  test('the server cannot be signalled, and what the user runs itself can', async () => {
    expect(await output(`kill -9 ${child.pid} 2>&1`)).toContain('not permitted');
    expect(await output('sleep 100 & kill -9 $! && echo killed')).toContain('killed');
    expect(child.exitCode).toBe(null);
  });

  test('a command that takes too long is ended all the same', async () => {
    expect(await runtime.run('sleep 1000', { timeoutMs: 300 })).toMatchObject({ endedBy: 'timeout' });
  });

  test('a missing program is still refused with spawn-failed', async () => {
    await refusal(runtime.processes.start(['no-such-program-here']), 'spawn-failed');
  });

  test('it says what is enforced', () => {
    expect(runtime.isolation.facts).toContainEqual(
      expect.objectContaining({ code: 'executor', enforced: true }),
    );
  });
});
