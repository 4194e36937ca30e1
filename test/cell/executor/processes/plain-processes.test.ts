import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { CellParts } from '../../../../src/cell/executor/handler-context.js';
import { startProcess } from '../../../../src/cell/executor/handlers/process-handlers.js';
import type { Launcher } from '../../../../src/cell/launchers/launcher.js';
import { contentOf, fixture, isAlive, openCell, openDescriptors, until } from './cell.js';

const forever = ['sleep', '1000'];

describe('starting', () => {
  test('a process starts in the workspace with the variables of the cell and its own', async () => {
    const cell = openCell();
    cell.environment.set('FROM_CELL', 'one');
    const { stdout } = await cell.run(['bash', '-c', 'pwd; echo $FROM_CELL $OWN'], { env: { OWN: 'two' } });
    expect(stdout).toBe(`${cell.workspace}\none two\n`);
  });

  test('a relative working directory starts at the workspace', async () => {
    const cell = openCell();
    mkdirSync(join(cell.workspace, 'a/b'), { recursive: true });
    const { stdout } = await cell.run(['pwd'], { cwd: 'a/b' });
    expect(stdout).toBe(`${cell.workspace}/a/b\n`);
  });

  test('a missing directory and a missing program are told apart', async () => {
    const cell = openCell();
    await expect(cell.start(['true'], { cwd: 'nowhere' })).rejects.toMatchObject({ code: 'not-found' });
    await expect(cell.start(['true'], { cwd: 'nowhere' })).rejects.toMatchObject({ code: 'not-found' });
    await expect(cell.start(['no-such-program'])).rejects.toMatchObject({
      code: 'spawn-failed',
      message: expect.stringContaining('PATH'),
    });
    expect(cell.processes.list()).toEqual([]);
  });

  test('shell source and a program exclude each other', async () => {
    const cell = openCell();
    const parts = { processes: cell.processes } as CellParts;
    const action = { action: 'start_process', encoding: 'utf8' } as const;
    await expect(startProcess(action, parts, {})).rejects.toMatchObject({ code: 'invalid-action' });
    await expect(startProcess({ ...action, argv: ['true'], command: ':' }, parts, {})).rejects.toMatchObject({
      code: 'invalid-action',
    });
    const { id } = await startProcess({ ...action, command: 'echo $((6 * 7))' }, parts, {});
    await expect(cell.wait(id)).resolves.toMatchObject({ stdout: '42\n' });
  });

  test('an unknown id is refused', async () => {
    const cell = openCell();
    expect(() => cell.processes.get('nothing')).toThrow(
      expect.objectContaining({ code: 'process-not-found' }),
    );
    await expect(cell.wait('nothing')).rejects.toMatchObject({ code: 'process-not-found' });
  });
});

describe('input', () => {
  test('given input is written and closed', async () => {
    const cell = openCell();
    const stdin = Buffer.alloc(3_000_000, 'in');
    const { stdout } = await cell.run(['sha1sum'], { stdin });
    const { stdout: expected } = await cell.run([
      'bash',
      '-c',
      'yes in | tr -d "\\n" | head -c 3000000 | sha1sum',
    ]);
    expect(stdout).toBe(expected);
  });

  test('without input a reader sees its end at once', async () => {
    const cell = openCell();
    await expect(cell.run(['cat'])).resolves.toMatchObject({ stdout: '', exitCode: 0 });
  });

  test('input that was left open takes more until it is closed', async () => {
    const cell = openCell();
    const { id } = await cell.start(['cat'], { keepStdin: true, stdin: Buffer.from('one ') });
    await cell.processes.write(id, Buffer.from('two '), { end: false });
    await cell.processes.write(id, Buffer.from('three'), { end: true });
    await expect(cell.wait(id)).resolves.toMatchObject({ stdout: 'one two three' });
    await expect(cell.processes.write(id, Buffer.from('four'), { end: false })).rejects.toMatchObject({
      code: 'invalid-action',
    });
  });

  test('a process that does not want its input does no harm', async () => {
    const cell = openCell();
    await expect(cell.run(['true'], { stdin: Buffer.alloc(5_000_000) })).resolves.toMatchObject({
      exitCode: 0,
    });
    const { id } = await cell.start(['bash', '-c', 'exec <&-; echo closed; exec sleep 1000'], {
      keepStdin: true,
    });
    await until(() => cell.processes.get(id).running);
    for (let round = 0; round < 20; round++) {
      await cell.processes.write(id, Buffer.alloc(100_000), { end: false }).catch(() => {});
    }
    expect(cell.processes.get(id).running).toBe(true);
  });

  test('writing more than the process reads waits, and can be given up', async () => {
    const cell = openCell();
    const { id } = await cell.start(forever, { keepStdin: true });
    const writing = cell.processes.write(id, Buffer.alloc(5_000_000), {
      end: false,
      signal: AbortSignal.timeout(50),
    });
    await expect(writing).rejects.toMatchObject({ code: 'cancelled' });
  });
});

describe('ending', () => {
  test('an exit code is a result', async () => {
    const cell = openCell();
    const { id } = await cell.start(['bash', '-c', 'exit 7']);
    await expect(cell.wait(id)).resolves.toMatchObject({ exitCode: 7, signal: null, endedBy: 'exit' });
    await expect(cell.wait(id)).resolves.toMatchObject({ exitCode: 7 });
    expect(cell.processes.get(id)).toMatchObject({ running: false, exitCode: 7, endedBy: 'exit' });
  });

  test('a signal reaches the process and what it started', async () => {
    const cell = openCell();
    const { id } = await cell.start(['bash', '-c', 'sleep 1000 & echo $! > pid; wait']);
    const child = Number(await contentOf(join(cell.workspace, 'pid')));
    await cell.processes.signal(id, 'SIGTERM');
    await expect(cell.wait(id)).resolves.toMatchObject({
      exitCode: null,
      signal: 'SIGTERM',
      endedBy: 'killed',
    });
    await until(() => !isAlive(child));
  });

  test('a signal that the process handles is its own business', async () => {
    const cell = openCell();
    const script = 'trap "echo got it; exit 3" TERM; touch ready; while :; do sleep 1000 & wait; done';
    const { id } = await cell.start(['bash', '-c', script]);
    await contentOf(join(cell.workspace, 'ready'));
    await cell.processes.signal(id, 'SIGTERM');
    await expect(cell.wait(id)).resolves.toMatchObject({ stdout: 'got it\n', exitCode: 3, endedBy: 'exit' });
  });

  test('an unknown signal is refused', async () => {
    const cell = openCell();
    const { id } = await cell.start(forever);
    await expect(cell.processes.signal(id, 'SIGNOTHING')).rejects.toMatchObject({ code: 'invalid-action' });
  });

  test('the timeout kills the whole tree, those that left it and ignore signals included', async () => {
    const cell = openCell();
    const file = join(cell.workspace, 'daemon');
    const { id } = await cell.start([fixture('proc-daemon.sh'), file, '1000'], { timeoutMs: 1000 });
    const daemon = Number(await contentOf(file));
    await expect(cell.wait(id)).resolves.toMatchObject({
      endedBy: 'timeout',
      signal: 'SIGKILL',
      exitCode: null,
    });
    await until(() => !isAlive(daemon));
  });

  test('what a process left behind can be killed after its end, and its neighbour lives on', async () => {
    const cell = openCell();
    const files = ['one', 'two'].map((name) => join(cell.workspace, name));
    const [one, two] = await Promise.all(
      files.map((file) => cell.start([fixture('proc-daemon.sh'), file, '0'])),
    );
    const [first, second] = await Promise.all(files.map(async (file) => Number(await contentOf(file))));
    await Promise.all([cell.wait(one?.id ?? ''), cell.wait(two?.id ?? '')]);
    await cell.processes.signal(one?.id ?? '', 'SIGTERM');
    expect(isAlive(first ?? 0)).toBe(true);
    await cell.processes.signal(one?.id ?? '', 'SIGKILL');
    expect(isAlive(first ?? 0)).toBe(false);
    expect(isAlive(second ?? 0)).toBe(true);
  });

  test('a process that prints more than its limit is killed', async () => {
    const cell = openCell();
    const { id } = await cell.start(['yes'], { outputLimitBytes: 1_000_000 });
    await expect(cell.wait(id, { maxOutputBytes: 1000 })).resolves.toMatchObject({
      endedBy: 'output-limit',
      signal: 'SIGKILL',
    });
  });

  test('a kill for want of memory is told from any other', async () => {
    let kills = 0;
    const cell = openCell({ wrap: (launcher): Launcher => ({ ...launcher, oomKills: () => kills }) });
    const [first, second] = [await cell.start(forever), await cell.start(forever)];
    cell.launcher.signal([first.pid], 'SIGKILL');
    await expect(cell.wait(first.id)).resolves.toMatchObject({ endedBy: 'killed' });
    kills = 1;
    cell.launcher.signal([second.pid], 'SIGKILL');
    await expect(cell.wait(second.id)).resolves.toMatchObject({ endedBy: 'oom' });
  });

  test('waiting can time out or be cancelled while the process goes on', async () => {
    const cell = openCell();
    const { id } = await cell.start(forever);
    await expect(cell.wait(id, { timeoutMs: 20 })).rejects.toMatchObject({ code: 'timed-out' });
    await expect(cell.wait(id, { signal: AbortSignal.abort() })).rejects.toMatchObject({ code: 'cancelled' });
    await expect(cell.wait(id, { signal: AbortSignal.timeout(20) }, () => {})).rejects.toMatchObject({
      code: 'cancelled',
    });
    expect(cell.processes.get(id)).toMatchObject({ running: true, exitCode: null });
  });

  test('closing ends everything, and twice is fine', async () => {
    const cell = openCell();
    const file = join(cell.workspace, 'daemon');
    const { id } = await cell.start([fixture('proc-daemon.sh'), file, '1000']);
    const daemon = Number(await contentOf(file));
    const waiting = cell.wait(id);
    await Promise.all([cell.processes.close(), cell.processes.close()]);
    expect(isAlive(daemon)).toBe(false);
    await expect(waiting).resolves.toMatchObject({ endedBy: 'killed' });
    await expect(cell.start(['true'])).rejects.toMatchObject({ code: 'runtime-closed' });
  });

  test('closing does not wait for a listener that never returns', async () => {
    const cell = openCell();
    const { id } = await cell.start(['yes']);
    let called = false;
    void cell
      .wait(id, {}, () => {
        called = true;
        return new Promise<void>(() => {});
      })
      .catch(() => {});
    await until(() => called);
    await cell.processes.close();
    expect(cell.processes.get(id).running).toBe(false);
  });
});

describe('many', () => {
  test('two hundred processes at once keep their outputs apart and leave no descriptor open', async () => {
    const cell = openCell();
    await cell.run(['true']);
    const before = openDescriptors();
    const results = await Promise.all(
      Array.from({ length: 200 }, (_, index) => cell.run(['bash', '-c', `echo ${index}; echo ${index} >&2`])),
    );
    results.forEach((result, index) => {
      expect(result).toMatchObject({ stdout: `${index}\n`, stderr: `${index}\n`, exitCode: 0 });
    });
    await until(() => openDescriptors() <= before);
  });

  test('ended processes beyond a number are forgotten, running ones never', async () => {
    const cell = openCell();
    const first = await cell.start(forever);
    const second = await cell.run(['true']);
    for (let round = 0; round < 13; round++) {
      await Promise.all(Array.from({ length: 20 }, () => cell.run(['true'])));
    }
    expect(cell.processes.list().length).toBe(257);
    expect(cell.processes.get(first.id).running).toBe(true);
    expect(() => cell.processes.get(second.id)).toThrow(
      expect.objectContaining({ code: 'process-not-found' }),
    );
  });

  test('a process cannot reach a terminal that is open elsewhere', async () => {
    const cell = openCell();
    const pty = await cell.launcher.openPty(forever, {
      cwd: cell.workspace,
      env: { ...cell.environment.all() },
      columns: 80,
      rows: 24,
    });
    const { stdout } = await cell.run(['bash', '-c', 'ls -l /proc/self/fd']);
    expect(stdout).not.toContain('/dev/ptmx');
    expect(stdout).not.toContain('/dev/pts');
    pty.close();
  });

  test('a file full of arguments that is too long for the system is told as such', async () => {
    const cell = openCell();
    writeFileSync(join(cell.workspace, 'x'), '');
    const start = cell.start(['echo', 'x'.repeat(3_000_000)]);
    await expect(start).rejects.toMatchObject({
      code: 'spawn-failed',
      message: expect.stringContaining('too long'),
    });
  });
});
