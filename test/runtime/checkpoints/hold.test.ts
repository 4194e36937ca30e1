import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { createRuntime, type Runtime } from '../../../src/index.js';
import type { Cell } from '../../../src/protocol/index.js';
import { holdable } from '../../../src/runtime/checkpoints/hold.js';

it('holds a cell that somebody pauses or resumes at the same time', async () => {
  let isRunning = true;
  const cell = {
    executor: {},
    pause: async () => {
      await null;
      isRunning = false;
    },
    resume: async () => {
      await null;
      isRunning = true;
    },
  } as unknown as Cell;
  const held = holdable(cell);
  const seen: boolean[] = [];
  const look = () =>
    held.hold(async () => {
      seen.push(isRunning);
      await new Promise(setImmediate);
      seen.push(isRunning);
    });
  await held.cell.pause?.();
  await Promise.all([held.cell.resume?.(), look()]);
  expect(isRunning).toBe(true);
  await Promise.all([look(), held.cell.pause?.(), look()]);
  expect(seen).toEqual([false, false, false, false, false, false]);
  expect(isRunning).toBe(false);
});

it('refuses while a command runs on that outlived its call, where nothing can pause it', async () => {
  await using runtime = await createRuntime({
    config: false,
    backend: 'cli',
    workspace: { mode: 'empty' },
    plugins: [],
    tools: [],
  });
  await runtime.run('read line', { handBackMs: 1 });
  await expect(runtime.checkpoint()).rejects.toMatchObject({ code: 'session-busy' });
  await runtime.run('x\n', { input: true });
  await expect
    .poll(
      () =>
        runtime.checkpoint().then(
          () => true,
          () => false,
        ),
      { timeout: 20_000 },
    )
    .toBe(true);
});

it.each(['sandbox', 'cli'] as const)(
  'refuses on %s while commands or processes run, when asked to',
  async (backend) => {
    const workspace = { mode: 'empty' } as const;
    await using runtime = await (backend === 'sandbox'
      ? createRuntime({ config: false, backend, workspace, plugins: [], tools: [] })
      : createRuntime({ config: false, backend, workspace, plugins: [], tools: [] }));
    const refuse = { whileRunning: 'refuse' } as const;
    const refused = { code: 'session-busy', message: expect.stringContaining('whileRunning') };
    const first = await runtime.checkpoint('quiet', refuse);
    await runtime.run('read line', { handBackMs: 1 });
    await expect(runtime.checkpoint('busy', refuse)).rejects.toMatchObject(refused);
    await runtime.run('x\n', { input: true });
    await expect.poll(async () => (await runtime.run('true')).exitCode, { timeout: 20_000 }).toBe(0);
    const { id } = await runtime.processes.start('exec cat');
    for (const verb of [
      () => runtime.checkpoint('busy', refuse),
      () => runtime.rewind(first, refuse),
      () => runtime.fork(refuse),
      () => runtime.diff(undefined, undefined, refuse),
      () => runtime.merge(runtime, refuse),
      () => runtime.apply('/tmp', { ...refuse, preview: true }),
    ])
      await expect(verb()).rejects.toMatchObject(refused);
    expect(runtime.checkpoints().map(({ label }) => label)).toEqual(['quiet']);
    await runtime.processes.signal(id, 'SIGKILL');
    await runtime.processes.wait(id);
    expect((await runtime.rewind(first, refuse)).changes).toEqual([]);
  },
);

it('cancels what waits or reads, and leaves everything as it was', async () => {
  await using runtime = await createRuntime({
    config: false,
    backend: 'sandbox',
    workspace: { mode: 'empty' },
    plugins: [],
    tools: [],
  });
  const first = await runtime.checkpoint();
  const [fork] = await runtime.fork({ from: first });
  await using other = fork as Runtime;
  await runtime.run('mkdir -p many; for i in {1..3000}; do echo $i > many/$i; done');
  await other.run('echo other > other');
  const kept = runtime.checkpoints();
  const target = mkdtempSync(join(tmpdir(), 'cancelled-'));
  try {
    const verbs = [
      (signal: AbortSignal) => runtime.checkpoint('never', { signal }),
      (signal: AbortSignal) => runtime.rewind(first, { signal }),
      (signal: AbortSignal) => runtime.fork({ signal }),
      (signal: AbortSignal) => runtime.diff(first, runtime, { signal }),
      (signal: AbortSignal) => runtime.apply(target, { signal }),
      (signal: AbortSignal) => runtime.merge(other, { signal }),
    ];
    for (const verb of verbs) {
      await expect(verb(AbortSignal.abort())).rejects.toMatchObject({ code: 'cancelled' });
      const controller = new AbortController();
      const working = verb(controller.signal);
      setImmediate(() => controller.abort());
      await expect(working).rejects.toMatchObject({ code: 'cancelled' });
    }
    expect(runtime.checkpoints()).toEqual(kept);
    expect(readdirSync(target)).toEqual([]);
    expect((await runtime.run('ls many | wc -l; ls')).output.trim().split(/\s+/)).toEqual(['3000', 'many']);
    expect((await runtime.checkpoint()).files).toBe(3000);
  } finally {
    rmSync(target, { recursive: true });
  }
});
