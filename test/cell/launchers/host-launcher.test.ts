import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { findProgram } from '../../../src/base/find-program.js';
import { killTree } from '../../../src/cell/launchers/kill-tree.js';
import type { CellProcess, Launcher } from '../../../src/cell/launchers/launcher.js';
import { parsePs, readProcessTable, withDescendants } from '../../../src/cell/launchers/process-table.js';
import { contentOf, fixture, isAlive } from '../executor/processes/cell.js';
import { openHost } from './open-host.js';

async function outputOf(launcher: Launcher, argv: string[], env: Record<string, string>): Promise<string> {
  const launched = await launcher.spawn(argv, { cwd: launcher.files.workspace, env });
  launched.stdin.end();
  launched.stderr.resume();
  return text(launched.stdout);
}

/** A group without members is no error. */
function signalGroup(id: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-id, signal);
  } catch (error) {
    expect(error).toMatchObject({ code: 'ESRCH' });
  }
}

describe('starting', () => {
  test('a shell is none that lies in the directory, whatever the search path says', async () => {
    const { launcher, workspace } = openHost();
    writeFileSync(join(workspace, 'bash'), '#!/bin/sh\necho fooled\n', { mode: 0o755 });
    for (const PATH of ['.', '', ':/usr/bin:/bin', `.:${process.env.PATH}`, 'bin::.'])
      expect(await outputOf(launcher, ['bash', '-c', 'echo $((6 * 7))'], { PATH })).toBe('42\n');
  });

  test('a missing directory, a file as directory and a missing program are told apart', async () => {
    const { launcher, workspace, env } = openHost();
    writeFileSync(join(workspace, 'file'), '');
    const spawn = (argv: string[], cwd: string) => launcher.spawn(argv, { cwd, env });
    await expect(spawn(['true'], join(workspace, 'none'))).rejects.toMatchObject({ code: 'not-found' });
    await expect(spawn(['true'], join(workspace, 'file'))).rejects.toMatchObject({ code: 'not-a-directory' });
    await expect(spawn(['no-such-program'], workspace)).rejects.toMatchObject({
      code: 'spawn-failed',
      message: expect.stringContaining('no-such-program'),
    });
    await expect(spawn(['./file'], workspace)).rejects.toMatchObject({ code: 'spawn-failed' });
    await expect(spawn([], workspace)).rejects.toMatchObject({ code: 'spawn-failed' });
  });

  test('a script whose interpreter is missing is told as such', async () => {
    const { launcher, workspace, env } = openHost();
    const script = join(workspace, 'script');
    writeFileSync(script, '#!/no/such/interpreter\n', { mode: 0o755 });
    await expect(launcher.spawn([script], { cwd: workspace, env })).rejects.toMatchObject({
      code: 'spawn-failed',
      message: expect.stringContaining('interpreter'),
    });
  });

  test('a program can open its own output again by name', async () => {
    const { launcher, env } = openHost();
    expect(await outputOf(launcher, ['bash', '-c', 'echo again > /dev/stdout'], env)).toBe('again\n');
  });

  test('a shell does not run start-up files', async () => {
    const { launcher, workspace, env } = openHost();
    writeFileSync(join(workspace, '.bashrc'), 'echo start-up\n');
    expect(await outputOf(launcher, ['bash', '-c', 'echo only this'], { ...env, HOME: workspace })).toBe(
      'only this\n',
    );
  });
});

describe('ending', () => {
  test('closing kills what left its parent, its session and its name, and leaves nothing behind', async () => {
    const { launcher, workspace, env } = openHost();
    const file = join(workspace, 'daemon');
    const launched = await launcher.spawn([fixture('proc-daemon.sh'), file, '0'], { cwd: workspace, env });
    await launched.exited;
    const daemon = Number(await contentOf(file));
    expect(launcher.processes()).toMatchObject([{ pid: daemon, parentPid: launched.pid }]);
    await Promise.all([launcher.close(), launcher.close()]);
    expect(isAlive(daemon)).toBe(false);
    expect(existsSync(launcher.exchange.outside)).toBe(false);
    await expect(launcher.spawn(['true'], { cwd: workspace, env })).rejects.toMatchObject({
      code: 'runtime-closed',
    });
  });

  test('closing catches up with processes that go on starting others', async () => {
    const { launcher, workspace, env } = openHost();
    const script =
      'f() { trap "" TERM; while :; do (setsid sleep 1000 &) ; done; }; f & f & touch ready; wait';
    await launcher.spawn(['bash', '-c', script], { cwd: workspace, env });
    await contentOf(join(workspace, 'ready'));
    await launcher.close();
    expect(launcher.processes()).toEqual([]);
  });

  /** The kernel ends a group at one instant. One by one, each is gone before we find it. */
  test('a chain of processes that fork and end without pause ends at once', async () => {
    const { launcher, workspace, env } = openHost();
    const chain = 'import os\nopen("ready", "w").close()\nwhile True:\n    if os.fork() > 0: os._exit(0)';
    const { pid } = await launcher.spawn(['python3', '-c', chain], { cwd: workspace, env });
    await contentOf(join(workspace, 'ready'));
    onTestFinished(() => signalGroup(pid, 'SIGKILL'));
    await killTree(launcher, [pid], 'SIGKILL');
    // What lives on stands still from here, so that the table shows it.
    signalGroup(pid, 'SIGSTOP');
    await vi.waitFor(() => expect(readProcessTable().filter(({ groupId }) => groupId === pid)).toEqual([]));
  });

  test('a group with somebody else in it stays', async () => {
    const { launcher, workspace, env } = openHost();
    const script = 'sleep 1000 & echo $! > other; sleep 1000 & echo $! > one; wait';
    const { pid } = await launcher.spawn(['bash', '-c', script], { cwd: workspace, env });
    const one = Number(await contentOf(join(workspace, 'one')));
    const other = Number(await contentOf(join(workspace, 'other')));
    await killTree(launcher, [one], 'SIGKILL');
    expect([pid, one, other].map(isAlive)).toEqual([true, false, true]);
  });

  test('two cells do not see each other', async () => {
    const [one, two] = [openHost(), openHost()];
    const first = await one.launcher.spawn(['sleep', '1000'], { cwd: one.workspace, env: one.env });
    const second = await two.launcher.spawn(['sleep', '1000'], { cwd: two.workspace, env: two.env });
    expect(one.launcher.processes().map((entry) => entry.pid)).toEqual([first.pid]);
    await one.launcher.close();
    expect(isAlive(first.pid)).toBe(false);
    expect(isAlive(second.pid)).toBe(true);
  });

  test('what cleared its environment is still found once it has been seen', async () => {
    const { launcher, workspace, env } = openHost();
    const script = '(env -i setsid /bin/bash -c "echo \\$\\$ > pid; exec sleep 1000" &); read; exit';
    const launched = await launcher.spawn(
      ['bash', '-c', `${script.replace('(', '{ ').replace('&)', '& }')}`],
      { cwd: workspace, env },
    );
    const pid = Number(await contentOf(join(workspace, 'pid')));
    expect(launcher.processes().map((entry) => entry.pid)).toContain(pid);
    launched.stdin.end('\n');
    await launched.exited;
    expect(launcher.processes()).toMatchObject([{ pid }]);
  });
});

describe('process table', () => {
  test('descendants come after their parents, also below a root that is gone', () => {
    const entry = (pid: number, parentPid: number): CellProcess => ({
      pid,
      parentPid,
      groupId: pid,
      sessionId: pid,
      foregroundGroupId: -1,
      startTicks: 1,
      cpuMs: 0,
      memoryBytes: 0,
    });
    const table = [entry(5, 4), entry(4, 3), entry(3, 2), entry(9, 1)];
    expect(withDescendants(table, [2]).map(({ pid }) => pid)).toEqual([3, 4, 5]);
    expect(withDescendants(table, [4, 9]).map(({ pid }) => pid)).toEqual([4, 9, 5]);
  });

  test('the table that ps prints reads as the one of the kernel', () => {
    const table = execFileSync('ps', ['-axo', 'pid=,ppid=,pgid=,stat=,rss='], { encoding: 'utf8' });
    const own = (entries: CellProcess[]) => entries.find((entry) => entry.pid === process.pid);
    const { pid, parentPid, groupId } = own(readProcessTable()) as CellProcess;
    expect(own(parsePs(table))).toMatchObject({ pid, parentPid, groupId });
  });
});

describe('finding a program', () => {
  test('names are looked for in the path, others from the working directory', () => {
    const { workspace } = openHost();
    mkdirSync(join(workspace, 'bin'));
    mkdirSync(join(workspace, 'bin/folder'));
    writeFileSync(join(workspace, 'bin/tool'), '', { mode: 0o755 });
    writeFileSync(join(workspace, 'bin/text'), '');
    chmodSync(join(workspace, 'bin/text'), 0o644);
    symlinkSync('tool', join(workspace, 'bin/link'));
    const path = `/nowhere:${workspace}/bin`;
    expect(findProgram('tool', path)).toBe(`${workspace}/bin/tool`);
    expect(findProgram('link', path)).toBe(`${workspace}/bin/link`);
    expect(findProgram('text', path)).toBeUndefined();
    expect(findProgram('folder', path)).toBeUndefined();
    expect(findProgram('bin/tool', path)).toBeUndefined();
    expect(findProgram('bin/tool', path, workspace)).toBe(`${workspace}/bin/tool`);
    expect(findProgram('', path)).toBeUndefined();
  });
});
