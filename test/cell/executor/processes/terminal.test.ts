import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { openTerminal } from '../../../../src/cell/executor/executor-terminal.js';
import type { Terminal, TerminalOptions } from '../../../../src/protocol/index.js';
import { contentOf, fixture, isAlive, openCell, openDescriptors, type TestCell, until } from './cell.js';

async function open(cell: TestCell, options: TerminalOptions = {}): Promise<Terminal> {
  const terminal = await openTerminal(cell, options);
  onTestFinished(() => terminal.close());
  return terminal;
}

async function textOf(terminal: Terminal): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of terminal.output) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

/** Reads on in the background; `text` is what came so far. */
function reading(terminal: Terminal): { text: string; done: Promise<void> } {
  const state = { text: '', done: Promise.resolve() };
  state.done = (async () => {
    for await (const chunk of terminal.output) state.text += Buffer.from(chunk).toString('latin1');
  })();
  return state;
}

describe('terminal', () => {
  test('a program on it sees a terminal of the asked size and controls it', async () => {
    const cell = openCell();
    const script = 'test -t 0 && test -t 1 && test -t 2 && stty size && echo $TERM && echo direct > /dev/tty';
    const terminal = await open(cell, { argv: ['bash', '-c', script], columns: 101, rows: 33 });
    expect(await textOf(terminal)).toBe('33 101\r\nxterm-256color\r\ndirect\r\n');
    expect(await terminal.exited).toEqual({ exitCode: 0, signal: null });
  });

  test('what is typed is echoed and reaches the shell', async () => {
    const cell = openCell();
    const terminal = await open(cell, { env: { HOME: cell.workspace, PS1: '> ' } });
    const output = reading(terminal);
    terminal.write('echo $((6 * 7)); pwd\n');
    await until(() => output.text.includes('42\r\n'));
    expect(output.text).toContain('echo $((6 * 7))');
    expect(output.text).toContain(cell.workspace);
    terminal.write('exit 5\n');
    expect(await terminal.exited).toEqual({ exitCode: 5, signal: null });
    await output.done;
  });

  test('a new size is told to the program', async () => {
    const cell = openCell();
    const script = 'trap "stty size; exit" WINCH; echo ready; while :; do sleep 1000 & wait; done';
    const terminal = await open(cell, { argv: ['bash', '-c', script] });
    const output = reading(terminal);
    await until(() => output.text.includes('ready'));
    terminal.resize(132, 50);
    await output.done;
    expect(output.text).toContain('50 132');
  });

  test('a size that makes no sense is refused', async () => {
    const cell = openCell();
    await expect(open(cell, { columns: 0 })).rejects.toMatchObject({ code: 'invalid-action' });
    const terminal = await open(cell, { argv: ['sleep', '1000'] });
    expect(() => terminal.resize(80, 1e6)).toThrow(expect.objectContaining({ code: 'invalid-action' }));
  });

  test('a missing program, shell or directory is told at the start', async () => {
    const cell = openCell();
    await expect(open(cell, { argv: ['no-such-program'] })).rejects.toMatchObject({ code: 'spawn-failed' });
    await expect(open(cell, { argv: ['true'], cwd: 'nowhere' })).rejects.toMatchObject({ code: 'not-found' });
    await expect(open(cell, { env: { PATH: '/nowhere' } })).rejects.toMatchObject({ code: 'shell-missing' });
  });

  test('a program that is killed is told with its signal', async () => {
    const cell = openCell();
    const terminal = await open(cell, { argv: ['bash', '-c', 'kill -SEGV $$'] });
    await textOf(terminal);
    expect(await terminal.exited).toEqual({ exitCode: null, signal: 'SIGSEGV' });
  });

  test('closing kills what runs on it, those that left it included, and twice is fine', async () => {
    const cell = openCell();
    const file = join(cell.workspace, 'daemon');
    const terminal = await open(cell, { argv: [fixture('proc-daemon.sh'), file, '1000'] });
    const daemon = Number(await contentOf(file));
    await Promise.all([terminal.close(), terminal.close()]);
    expect(isAlive(daemon)).toBe(false);
    expect(await terminal.exited).toMatchObject({ signal: 'SIGKILL' });
    expect(cell.launcher.processes()).toEqual([]);
    terminal.write('nobody');
    terminal.resize(10, 10);
  });

  test('the output ends with the program although a background process keeps the terminal', async () => {
    const cell = openCell();
    const terminal = await open(cell, { argv: ['bash', '-c', 'trap "" HUP; sleep 1000 & printf last'] });
    expect(await textOf(terminal)).toBe('last');
    expect(await terminal.exited).toEqual({ exitCode: 0, signal: null });
  });

  test('a reader that is behind holds the program back and gets everything', async () => {
    const cell = openCell();
    const script = 'seq 1 400000; touch finished';
    const terminal = await open(cell, { argv: ['bash', '-c', script] });
    const iterator = terminal.output[Symbol.asyncIterator]();
    let text = Buffer.from((await iterator.next()).value ?? []).toString();
    const finished = contentOf(join(cell.workspace, 'finished'));
    const early = await Promise.race([
      finished,
      terminal.exited,
      new Promise((resolve) => setTimeout(resolve, 300, 'held')),
    ]);
    expect(early).toBe('held');
    for (let next = await iterator.next(); !next.done; next = await iterator.next())
      text += Buffer.from(next.value).toString();
    expect(text.length).toBe(2_688_895 + 400_000);
    expect(text.endsWith('400000\r\n')).toBe(true);
  });

  test('no program loses its last words, long or short', async () => {
    const cell = openCell();
    const before = openDescriptors();
    for (let round = 0; round < 100; round++) {
      const batch = Array.from({ length: 10 }, async () =>
        textOf(await openTerminal(cell, { argv: ['printf', 'x'] })),
      );
      expect(await Promise.all(batch)).toEqual(new Array(10).fill('x'));
    }
    for (let round = 0; round < 100; round++) {
      const terminal = await openTerminal(cell, { argv: ['printf', '%020000d', '7'] });
      expect((await textOf(terminal)).length).toBe(20_000);
    }
    await until(() => openDescriptors() <= before + 1);
  });

  test('a program that closes its files before it ends is not hung up on', async () => {
    const cell = openCell();
    for (let round = 0; round < 40; round++) {
      const terminal = await openTerminal(cell, { argv: ['head', '-n1'] });
      void terminal.write('a line\n');
      expect(await terminal.exited).toEqual({ exitCode: 0, signal: null });
      expect(await textOf(terminal)).toBe('a line\r\na line\r\n');
    }
  });

  test('programs on terminals hold no other terminal', async () => {
    const cell = openCell();
    await open(cell, { argv: ['sleep', '1000'] });
    const terminal = await open(cell, { argv: ['bash', '-c', 'ls -l /proc/self/fd; tty'] });
    const text = await textOf(terminal);
    expect(text).not.toContain('ptmx');
    const own = text.trim().split('\r\n').at(-1) ?? '';
    expect(text.match(/\/dev\/pts\/\d+/g)?.every((name) => name === own)).toBe(true);
  });
});
