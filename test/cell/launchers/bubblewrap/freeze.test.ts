import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { familyOf } from '../../../../src/cell/launchers/bubblewrap/cell-processes.js';
import { inCell, startLauncher } from './start.js';

const line = (...words: string[]) => words.join('\n');

/** Processes that resume all others without pause. */
const wakers = line(
  'import os, signal',
  'for _ in range(3):',
  '  if os.fork() == 0: break',
  'print(1, flush=True)',
  'while True: os.kill(-1, signal.SIGCONT)',
);

/** A process whose first thread has ended, and whose second one works on. */
const headless = line(
  'import ctypes, threading',
  'def work():',
  '  while True: pass',
  'threading.Thread(target=work).start()',
  'print(1, flush=True)',
  'ctypes.CDLL(None).pthread_exit(None)',
);

function threadsOf(first: number): Map<string, string> {
  const found = [...familyOf(first)].flatMap((pid) =>
    readdirSync(`/proc/${pid}/task`).map((thread): [string, string] => {
      const status = readFileSync(`/proc/${pid}/task/${thread}/status`, 'latin1');
      return [thread, (status.match(/^State:\t.|^\w+_ctxt_switches:.*/gm) ?? []).join(' ')];
    }),
  );
  return new Map(found);
}

test('a cell is paused when nothing in it runs, or freezing it fails', async () => {
  await using launcher = await startLauncher();
  const start = async (source: string) => {
    const { stdout } = await launcher.spawn(['/usr/bin/python3', '-c', source], inCell);
    await new Promise((resolve) => stdout.once('data', resolve));
  };
  await start(headless);
  const isHeadless = () => [...threadsOf(launcher.hostPid).values()].some((state) => /State:\tZ/.test(state));
  await expect.poll(isHeadless).toBe(true);
  const stopsAll = async () => {
    const thaw = await launcher.freeze();
    const before = threadsOf(launcher.hostPid);
    expect([...before.values()].filter((state) => !/^State:\t[TZ]/.test(state))).toEqual([]);
    expect(threadsOf(launcher.hostPid)).toEqual(before);
    thaw();
    await expect
      .poll(() => [...threadsOf(launcher.hostPid).values()].filter((state) => /^State:\tT/.test(state)))
      .toEqual([]);
  };
  await stopsAll();
  await start(wakers);
  const outcome = await stopsAll().catch((error: unknown) => error);
  if (outcome !== undefined) expect(outcome).toMatchObject({ code: 'internal' });
});

test('a process whose first thread has ended goes on after a halt', async () => {
  await using launcher = await startLauncher();
  const { stdout } = await launcher.spawn(['/usr/bin/python3', '-c', headless], inCell);
  await new Promise((resolve) => stdout.once('data', resolve));
  const states = () => [...threadsOf(launcher.hostPid).values()];
  await expect.poll(() => states().some((state) => /State:\tZ/.test(state))).toBe(true);
  const halted = await launcher.whileHalted?.(states);
  expect(halted?.filter((state) => /State:\tT/.test(state)).length).toBeGreaterThan(0);
  expect(states().filter((state) => /State:\tT/.test(state))).toEqual([]);
});
