/** Kept cells on the command line: started, listed, gone on in, ended. */
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { CellInfo } from '../../src/index.js';
import { start, startOnTerminal, workcell } from './workcell.js';

const local = ['--backend', 'local'];

/** A separate place for the cells of these tests, and no engine, so that no other cells are in the list. */
let env: Record<string, string>;

beforeAll(() => {
  const directory = mkdtempSync(join(tmpdir(), 'cells-'));
  env = { XDG_RUNTIME_DIR: directory, DOCKER_HOST: `unix://${directory}/none.sock` };
});

afterEach(async () => {
  const left = (await cells()).map(({ id }) => id);
  if (left.length > 0) await cli('cells', 'stop', ...left);
});

afterAll(() => rmSync(env.XDG_RUNTIME_DIR as string, { recursive: true }));

describe('a cell that is kept', () => {
  test('goes on from command to command until it is stopped', async () => {
    const id = await keep('mkdir deep; cd deep; export KEPT=state; echo note > file');
    const [info] = await cells();
    expect(info).toMatchObject({ id, backend: 'local', status: 'running', isolation: 'none' });
    expect(info?.heldBy).toBeUndefined();
    const listed = await cli('cells');
    expect(listed.stdout).toMatch(new RegExp(`${id} +local +running +\\d+ s +none +- +- +/`));
    expect(listed.stderr).toContain('docker was not asked');

    const again = await cli(
      'run',
      '--attach',
      id.slice(0, 6),
      'pwd | grep -o deep; echo $KEPT; cat file; exit 4',
    );
    expect(again).toEqual({ stdout: 'deep\nstate\nnote\n', stderr: '', exitCode: 4 });
    const json = await cli('action', 'read', '{"path":"deep/file"}', '--attach', id);
    expect(JSON.parse(json.stdout)).toMatchObject({ content: 'note\n' });

    expect(await cli('cells', 'stop', id)).toEqual({ stdout: `${id}\n`, stderr: '', exitCode: 0 });
    expect(existsSync(info?.workspace ?? '')).toBe(false);
    expect((await cli('cells')).stdout).toBe('There are no cells that were kept alive.\n');
  });

  test('is looked for where the options of its backend say', async () => {
    const { stdout } = await cli('cells', 'list', '--help');
    expect(stdout).toContain('Where cells of backend docker are:');
    const elsewhere = await cli('cells', '--engine', 'unix:///nowhere/docker.sock');
    expect(elsewhere.stderr).toContain('/nowhere/docker.sock');
    const foreign = await cli('cells', '--backend', 'local', '--engine', 'unix:///nowhere/docker.sock');
    expect(foreign.exitCode).toBe(78);
    expect(foreign.stderr).toContain('"engine" does not say where cells of local are');
  });

  test('in a sandbox, is paused, resumed and ended', async () => {
    const { stderr } = await cli('run', '--backend', 'sandbox', '--keep-alive', 'cd /tmp; export KEPT=state');
    const id = /cell (\w+) goes on/.exec(stderr)?.[1] ?? '';
    expect((await cli('cells', 'pause', id)).exitCode).toBe(0);
    expect(await cells()).toMatchObject([{ id, backend: 'sandbox', status: 'paused', place: {} }]);
    expect((await cli('cells', 'resume', id)).exitCode).toBe(0);
    expect((await cli('run', '--attach', id, 'pwd; echo $KEPT')).stdout).toBe('/tmp\nstate\n');
    expect((await cli('cells', 'stop', id)).exitCode).toBe(0);
    expect(await cells()).toEqual([]);
  });

  test('takes a terminal', async () => {
    const id = await keep('mkdir deep; echo note > deep/file');
    const terminal = startOnTerminal(['shell', '--attach', id], { env });
    terminal.pty.write('cat deep/fi*\r');
    await terminal.printed('note');
    terminal.pty.write('exit 5\r');
    expect((await terminal.ended).exitCode).toBe(5);
  });

  test('that is dead is removed by stopping it', async () => {
    const id = await keep('true');
    const server = Number((await cli('run', '--attach', id, 'echo $PPID')).stdout);
    // Anything less would be a group of processes, that of the tests among them.
    expect(server).toBeGreaterThan(1);
    process.kill(server, 'SIGKILL');
    await expect.poll(async () => (await cells())[0]?.status, { timeout: 20_000 }).toBe('lost');
    const { exitCode, stderr } = await cli('cells', 'stop', id);
    expect(exitCode, stderr).toBe(0);
    expect(stderr).toContain('was dead');
    expect(await cells()).toEqual([]);
  });

  test('tells its id in the line of JSON', async () => {
    const { stdout, stderr } = await cli('run', ...local, '--keep-alive', '--json', 'echo hi');
    const { output, cell } = JSON.parse(stdout) as { output: string; cell: string };
    expect(output).toBe('hi\n');
    expect(stderr).toContain(`workcell cells stop ${cell}`);
    expect(await cells()).toMatchObject([{ id: cell }]);
    expect(JSON.parse((await cli('cells', 'stop', '--json', cell)).stdout)).toEqual([cell]);
  });

  test('outlives the kill of the command, and is not shared with it', async () => {
    const running = start(['run', ...local, '--keep-alive', 'echo begun; sleep 1000'], { env });
    await running.printed('begun');
    const [info] = await cells();
    expect(info?.heldBy).toBe(running.child.pid);
    const refused = await cli('run', '--attach', info?.id ?? '', 'true');
    expect(refused.exitCode).toBe(75);
    expect(refused.stderr).toContain(`Process ${running.child.pid}`);
    running.child.kill('SIGKILL');
    await once(running.child, 'close');
    const { stdout } = await cli('action', 'list_sessions', '--attach', info?.id ?? '');
    expect(stdout).toContain('sleep 1000');
  });
});

describe('what cannot be is told', () => {
  test('an unknown cell', async () => {
    const { exitCode, stderr } = await cli('run', '--attach', 'nothing', 'true');
    expect(exitCode).toBe(66);
    expect(stderr).toContain('workcell cells');
    expect((await cli('cells', 'stop', 'nothing')).exitCode).toBe(66);
  });

  test('a backend that keeps no cells', async () => {
    const { exitCode, stderr } = await cli('run', '--backend', 'cli', '--keep-alive', 'true');
    expect(exitCode).toBe(69);
    expect(stderr).toContain(
      'docker, e2b, kubernetes, local, modal, runloop, sandbox, service, ubuntu-docker',
    );
    expect((await cli('cells', '--backend', 'remote')).exitCode).toBe(69);
    expect((await cli('cells', '--backend', 'docker')).exitCode).toBe(69);
  });

  test('a backend that cannot pause leaves the cell as it is', async () => {
    const id = await keep('cd /tmp');
    const { exitCode, stderr } = await cli('cells', 'pause', id);
    expect(exitCode).toBe(69);
    expect(stderr).toContain('cannot pause');
    expect((await cli('cells', 'resume', id)).exitCode).toBe(0);
    expect((await cli('run', '--attach', id, 'pwd')).stdout).toBe('/tmp\n');
  });

  test('options of a start together with --attach', async () => {
    const { exitCode, stderr } = await cli('run', '--attach', 'x', '--workspace', '.', 'true');
    expect(exitCode).toBe(78);
    expect(stderr).toContain('workspace');
    expect((await cli('run', ...local, '--warm', '1', '--attach', 'x', 'true')).stderr).toContain('warm');
  });
});

function cli(...words: string[]) {
  return workcell(words, { env });
}

async function keep(command: string): Promise<string> {
  const { stderr } = await cli('run', ...local, '--keep-alive', command);
  const [, id = ''] = /cell ([0-9a-f]{16}) goes on/.exec(stderr) ?? [];
  expect(stderr).toContain(`--attach ${id}`);
  return id;
}

async function cells(): Promise<CellInfo[]> {
  return JSON.parse((await cli('cells', '--json')).stdout);
}
