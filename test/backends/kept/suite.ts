/** What holds for a cell that outlives who started it, on every backend, through the public surface alone. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import {
  attachRuntime,
  type CellInfo,
  type CellRef,
  type CreateRuntimeOptions,
  createRuntime,
  listCells,
  type Runtime,
  tool,
} from '../../../src/index.js';
import { refusal, sh } from '../../../src/testing/contract/given.js';

export interface KeptKind {
  readonly options: object;
  /** Where its cells are. */
  readonly place: object;
  readonly tier: string;
  readonly labels: object | undefined;
  /** What remains of a cell with this id, besides directories. */
  readonly left?: (id: string) => Promise<string[]>;
}

const opened: Runtime[] = [];
const started = new Set<string>();
const places = new Set<object>();

/** What a failed test has not ended would stay for good. */
afterEach(async () => {
  for (const runtime of opened.splice(0)) await runtime.close();
  for (const place of places) {
    const here = { ...place, config: false } as const;
    const left = (await listCells(here)).filter(({ id }) => started.has(id));
    for (const { id } of left) await (await attachRuntime(id, here)).close();
  }
  started.clear();
});

export function keptCellSuite(backend: string, { options, place, tier, labels, left }: KeptKind): void {
  places.add({ ...place, backend });
  describe(`a kept cell of backend ${backend}`, () => {
    const start = { ...options, config: false, keepAlive: true } as CreateRuntimeOptions;
    const here = { ...place, config: false } as const;

    test('outlives the kill of its owner, is listed, and goes on where it was', async () => {
      const { child, id } = await startOwner(start);
      expect(await infoOf(id)).toMatchObject({ heldBy: child.pid });
      await refusal(attachRuntime(id, here), 'cell-in-use');
      child.kill('SIGKILL');
      await once(child, 'exit');

      const info = await infoOf(id);
      expect(info).toMatchObject({ id, backend, status: 'running', isolation: tier });
      expect(info?.heldBy).toBeUndefined();
      expect(info?.labels).toEqual(labels);
      expect(Math.abs(Date.now() - (info?.startedAt?.getTime() ?? 0))).toBeLessThan(600_000);
      expect(existsSync(info?.workspace ?? '')).toBe(true);

      // A reference is plain JSON, and enough to get there.
      const { backend: name, place: where } = info as CellInfo;
      const ref = JSON.parse(JSON.stringify({ id, backend: name, place: where })) as CellRef;
      const runtime = await attach(ref, { config: false });
      expect(runtime).toMatchObject({ id, backend });
      expect(runtime.isolation.tier).toBe(tier);
      expect(await sh(runtime, 'pwd | grep -o deep; echo "$KEPT"; cat note')).toBe(
        'deep\nstate\nfrom before\n',
      );
      const [entry] = (await runtime.processes.list()).filter(({ argv }) => argv.includes('1000'));
      expect(entry?.running).toBe(true);
      await runtime.close();
      await runtime.close();

      expect(await infoOf(id)).toBeUndefined();
      expect(existsSync(info?.workspace ?? '')).toBe(false);
      expect(await leftOf(id, left)).toEqual([]);
      await refusal(attachRuntime(id, here), 'cell-not-found');
    });

    test('is handed on with detach, with its record, and under the policy of who attaches', async () => {
      const directory = mkdtempSync(join(tmpdir(), 'kept-'));
      const events = { store: `sqlite:${join(directory, 'events.db')}` };
      const first = await create({ ...start, events });
      const { id } = first;
      try {
        await sh(first, 'cd /tmp && echo first');
        await first.detach();
        await first.detach();
        await first.close();
        expect(first.status).toBe('DETACHED');
        await refusal(first.run('true'), 'runtime-closed');

        const greet = tool({
          name: 'greet',
          description: 'Greets.',
          parameters: z.object({}),
          execute: () => 'hello',
        });
        const policy = { rules: [{ command: 'echo forbidden', decision: 'deny' }] } as const;
        const second = await attach(id, { ...here, backend: backend as 'local', events, policy });
        second.add(greet);
        expect(await sh(second, 'pwd')).toBe('/tmp\n');
        expect((await second.callTool('greet')).result).toBe('hello');
        await refusal(second.run('echo forbidden'), 'denied');
        await second.detach();

        const third = await attach(id, { ...here, events });
        await third.close();
        const kept: string[] = [];
        const ids: number[] = [];
        for await (const event of third.events) {
          ids.push(event.id);
          if (event.kind === 'status') kept.push(event.status.status);
        }
        expect(ids).toEqual(ids.map((_, index) => index + 1));
        expect(kept.filter((status) => /DETACHED|STOPPED|READY/.test(status))).toEqual([
          'READY',
          'DETACHED',
          'READY',
          'DETACHED',
          'READY',
          'STOPPED',
        ]);
      } finally {
        rmSync(directory, { recursive: true });
      }
      expect(await leftOf(id, left)).toEqual([]);
    });

    test('is left as it is when the isolation that is demanded is not there', async () => {
      const first = await create(start);
      await first.detach();
      await refusal(attachRuntime(first.id, { ...here, minIsolation: 'vm' }), 'isolation-too-weak');
      const second = await attach(first.id, here);
      expect(await sh(second, 'echo alive')).toBe('alive\n');
      await refusal(attachRuntime(first.id, here), 'cell-in-use');
      await second.close();
      expect(await leftOf(first.id, left)).toEqual([]);
    });

    async function infoOf(id: string) {
      return (await listCells(here)).find((cell) => cell.id === id);
    }
  });
}

export async function create(options: CreateRuntimeOptions): Promise<Runtime> {
  const runtime = await createRuntime(options);
  started.add(runtime.id);
  opened.push(runtime);
  return runtime;
}

export async function attach(...parts: Parameters<typeof attachRuntime>): Promise<Runtime> {
  const runtime = await attachRuntime(...parts);
  opened.push(runtime);
  return runtime;
}

/** Another process that starts a cell, works in it, says so, and waits. */
export async function startOwner(options: object): Promise<{ child: ChildProcess; id: string }> {
  const program = `
    import { createRuntime } from './src/index.ts';
    const runtime = await createRuntime(${JSON.stringify(options)});
    await runtime.run('export KEPT=state; mkdir deep; cd deep; echo from before > note');
    await runtime.processes.start(['sleep', '1000']);
    console.log(runtime.id);
    setInterval(() => {}, 1000);`;
  const child = spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '--eval', program], {
    cwd: new URL('../../..', import.meta.url),
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = once(child, 'exit').then(([code]) => {
    throw new Error(`The owner ended with ${code} before its cell was there.`);
  });
  const [line] = await Promise.race([once(child.stdout, 'data'), exited]);
  exited.catch(() => {});
  const id = String(line).trim();
  started.add(id);
  return { child, id };
}

/** Directories that carry the id, and what the backend has besides. */
async function leftOf(id: string, left: KeptKind['left']): Promise<string[]> {
  const homes = [process.env.XDG_RUNTIME_DIR, tmpdir()]
    .filter((path) => path !== undefined && path !== '')
    .flatMap((path) => readdirSync(path as string).map((name) => join(path as string, name)))
    .flatMap((path) => [join(path, id), join(path, 'sandbox', id)])
    .filter((path) => existsSync(path));
  return [...homes, ...((await left?.(id)) ?? [])];
}
