import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { openLastingHome } from '../../src/backends/local/local-home.js';
import local from '../../src/backends/local.js';
import { createRuntime, type Runtime } from '../../src/index.js';
import { eventually, refusal, uniqueWord } from '../../src/testing/contract/given.js';
import { contractSuite } from '../contract/suite.js';

contractSuite(
  'local',
  { backend: 'local', warm: 2 },
  { traits: ['limited-tree', 'kernels', 'checkpoints', 'forks'] },
);

describe('the server of a local cell', () => {
  test('it is another process, and its variables hold no token', async () => {
    await using runtime = await createRuntime({ backend: 'local' });
    const pid = await serverPid(runtime);
    expect(pid).not.toBe(process.pid);
    const state =
      readFileSync(`/proc/${pid}/environ`, 'latin1') + readFileSync(`/proc/${pid}/cmdline`, 'latin1');
    expect(state).not.toMatch(/token/i);
    expect((await runtime.run('ls -l /proc/self/fd')).output).not.toContain('socket:');
  });

  test('killed, it is reported with its last lines, and nothing is left of its commands', async () => {
    const lines: string[] = [];
    const statuses: string[] = [];
    const word = uniqueWord();
    const runtime = await createRuntime({
      backend: 'local',
      onLog: (line) => lines.push(line),
      onStatus: ({ status, message }) => statuses.push(`${status} ${message}`),
    });
    await runtime.processes.start(['bash', '-c', `exec -a ${word} sleep 1000`]);
    await runtime.run(`setsid bash -c 'exec -a ${word} sleep 1000' &`);
    await eventually(() => countProcesses(word) === 2);
    const running = runtime.run('echo started; sleep 1000');
    process.kill(await serverPid(runtime, 'look'), 'SIGKILL');
    const started = performance.now();
    expect((await refusal(running, 'runtime-disconnected')).message).toContain('SIGKILL');
    expect(performance.now() - started).toBeLessThan(2000);
    await refusal(runtime.read('x'), 'runtime-disconnected');
    await eventually(() => runtime.status === 'ERROR_RUNTIME_DISCONNECTED');
    expect(statuses.at(-1)).toContain('SIGKILL');
    await eventually(() => countProcesses(word) === 0, 'its commands are gone');
    await runtime.close();
    expect(existsSync(dirname(runtime.workspace))).toBe(false);
  });

  test('it ends with its commands when whoever started it is killed', async () => {
    const word = uniqueWord();
    const { child, said } = await startStarter({ keepAlive: false, word });
    await eventually(() => countProcesses(word) === 1);
    child.kill('SIGKILL');
    await eventually(() => !isAlive(said.server), 'the server is gone');
    await eventually(() => countProcesses(word) === 0, 'its commands are gone');
  });

  test('kept alive, it outlives whoever started it, is found again by id, and ends when closed', async () => {
    const word = uniqueWord();
    const { child, said } = await startStarter({ keepAlive: true, word });
    child.kill('SIGKILL');
    await once(child, 'exit');
    expect(await local.list?.({})).toContainEqual(
      expect.objectContaining({ id: said.id, status: 'running' }),
    );
    const cell = await local.attach?.(said.id, {}, { id: said.id, onStatus: () => {} });
    if (cell === undefined) throw new Error('attach is missing');
    expect(cell.workspace).toBe(said.workspace);
    const { sessions } = await cell.executor.execute<'list_sessions'>({ action: 'list_sessions' });
    expect(sessions[0]?.running).toContain(word);
    const home = dirname(said.workspace);
    expect(statSync(home).mode & 0o077).toBe(0);
    expect(statSync(join(home, 'state.json')).mode & 0o777).toBe(0o600);
    await cell.stop();
    await cell.stop();
    expect(isAlive(said.server)).toBe(false);
    expect(countProcesses(word)).toBe(0);
    expect(existsSync(home)).toBe(false);
    await refusal(
      Promise.resolve(local.attach?.(said.id, {}, { id: said.id, onStatus: () => {} })),
      'cell-not-found',
    );
  });

  test('killed while nobody was there, it is found to be lost and cleaned up', async () => {
    const word = uniqueWord();
    const { child, said } = await startStarter({ keepAlive: true, word });
    child.kill('SIGKILL');
    await once(child, 'exit');
    process.kill(said.server, 'SIGKILL');
    await eventually(() => !isAlive(said.server));
    const attached = Promise.resolve(local.attach?.(said.id, {}, { id: said.id, onStatus: () => {} }));
    await refusal(attached, 'runtime-disconnected');
    expect(existsSync(dirname(said.workspace))).toBe(false);
    expect(countProcesses(word)).toBe(0);
  });

  test('a server that does not answer is reported, and its cell is left alone', async () => {
    const { child, said } = await startStarter({ keepAlive: true, word: uniqueWord() });
    child.kill('SIGKILL');
    await once(child, 'exit');
    process.kill(said.server, 'SIGSTOP');
    const attach = () => Promise.resolve(local.attach?.(said.id, {}, { id: said.id, onStatus: () => {} }));
    expect((await refusal(attach(), 'runtime-disconnected')).message).toContain(`process ${said.server}`);
    expect(existsSync(said.workspace)).toBe(true);
    process.kill(said.server, 'SIGCONT');
    await (await attach())?.stop();
    expect(existsSync(said.workspace)).toBe(false);
  });

  test.each([
    ['before its server is started', ''],
    ['before its server can be found', 'startLocalServer(home.path, { keepAlive: true });'],
    [
      'before its server is told to begin',
      "keepHome(home, { id, token: 't', pid: startLocalServer(home.path, { keepAlive: true }).pid });",
    ],
  ])('nothing is left of a starter that was killed %s', async (_when, more) => {
    const id = randomBytes(8).toString('hex');
    const program = `
      import { keepHome, makeLastingHome } from './src/backends/local/local-home.ts';
      import { startLocalServer } from './src/backends/local/local-server.ts';
      const id = '${id}';
      const home = await makeLastingHome(id);
      ${more}
      process.kill(process.pid, 'SIGKILL');`;
    expect(await once(runProgram(program), 'exit')).toEqual([null, 'SIGKILL']);
    const left = () => readdirSync(dirname(openLastingHome(id).path)).filter((name) => name.includes(id));
    const swept = async () => {
      await local.list?.({});
      return left();
    };
    // The server first has to come up to learn that nobody wants it.
    await expect.poll(swept, { timeout: 50_000 }).toEqual([]);
  });

  test('nothing is left when its start is cancelled', async () => {
    const before = homes();
    const stop = new AbortController();
    const starting = createRuntime({ backend: 'local', signal: stop.signal });
    setTimeout(() => stop.abort(), 30);
    await refusal(starting, 'cancelled');
    expect(homes().filter((name) => !before.includes(name))).toEqual([]);
  });

  test('commands keep the directory for temporary files that they would have without it', async () => {
    await using runtime = await createRuntime({ backend: 'local' });
    expect((await runtime.run('echo "${TMPDIR-none}"')).output).toBe(`${process.env.TMPDIR ?? 'none'}\n`);
  });

  test('a workspace that was given stays, with what was written', async () => {
    const workspace = mkdtempSync(join(tmpdir(), 'given-'));
    const runtime = await createRuntime({ backend: 'local', workspace });
    await runtime.write('note', 'x');
    await runtime.close();
    expect(readFileSync(join(workspace, 'note'), 'utf8')).toBe('x');
    rmSync(workspace, { recursive: true });
  });

  test('a workspace that does not exist is refused with invalid-config', async () => {
    await refusal(createRuntime({ backend: 'local', workspace: '/nowhere/at/all' }), 'invalid-config');
  });
});

interface Said {
  id: string;
  workspace: string;
  server: number;
}

/** Another process that starts a cell with a command in it, says so, and waits. */
async function startStarter(options: {
  keepAlive: boolean;
  word: string;
}): Promise<{ child: ChildProcess; said: Said }> {
  const program = `
    import local from './src/backends/local.ts';
    const id = ${JSON.stringify(randomBytes(8).toString('hex'))};
    const cell = await local.start({ keepAlive: ${options.keepAlive} }, { id, onStatus() {} });
    const run = (command, session) => cell.executor.execute({ action: 'run', command, session, maxOutputBytes: 4096 });
    const server = Number((await run('echo $PPID', 'look')).output);
    await cell.executor.execute({ action: 'close_session', session: 'look' });
    void run("bash -c 'exec -a ${options.word} sleep 1000'", 'default').catch(() => {});
    while (!(await cell.executor.execute({ action: 'list_sessions' })).sessions.some(({ running }) => running));
    console.log(JSON.stringify({ id, workspace: cell.workspace, server }));
    setInterval(() => {}, 1000);`;
  const child = runProgram(program);
  const [line] = await once(child.stdout, 'data');
  return { child, said: JSON.parse(String(line)) };
}

function runProgram(program: string) {
  return spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '--eval', program], {
    cwd: new URL('../..', import.meta.url),
    stdio: ['ignore', 'pipe', 'inherit'],
  });
}

async function serverPid(runtime: Runtime, session = 'default'): Promise<number> {
  return Number((await runtime.run('echo $PPID', { session })).output);
}

function isAlive(pid: number): boolean {
  try {
    return !/^\d+ \(.*\) Z/.test(readFileSync(`/proc/${pid}/stat`, 'latin1'));
  } catch {
    return false;
  }
}

function countProcesses(word: string): number {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, 'latin1').startsWith(`${word}\0`);
      } catch {
        return false;
      }
    }).length;
}

/** Directories of local cells that this process has made. */
function homes(): string[] {
  const scratch = join(tmpdir(), `workcell-${process.geteuid?.()}`);
  return readdirSync(scratch)
    .filter((name) => new RegExp(`^workcell-\\d+-\\d+-${process.pid}-`).test(name))
    .flatMap((name) => readdirSync(join(scratch, name)).filter((entry) => entry.startsWith('local-')));
}
