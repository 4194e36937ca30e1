/** Life and death of pods: who dies when, what is left, and what comes back. */
import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { ownLabels } from '../../../src/backends/docker/labels.js';
import { reapPods } from '../../../src/backends/kubernetes/attach-pod.js';
import type { List, Pod } from '../../../src/backends/kubernetes/objects.js';
import kubernetes from '../../../src/backends/kubernetes.js';
import { createRuntime } from '../../../src/index.js';
import { begin, eventually, refusal } from '../../../src/testing/contract/given.js';
import { clusterImages, kubernetesCluster } from '../../engines/kubernetes.js';
import { adminOf, cuttable, makeNamespace } from './namespaces.js';

const { kubeconfig } = await kubernetesCluster();
const admin = adminOf(kubeconfig);
const namespace = await makeNamespace(admin);
const options = { kubeconfig, namespace, image: clusterImages.bare, imagePullPolicy: 'Never' } as const;
const cell = { backend: 'kubernetes', config: false, ...options } as const;

afterEach(async () => {
  expect(await podNames()).toEqual([]);
});

describe('a pod that ends', () => {
  test('because somebody deletes it fails what is under way', async () => {
    const runtime = await createRuntime(cell);
    await begin(runtime, 'echo begun; sleep 1000', /begun/);
    const refused = refusal(runtime.run('', { noChangeTimeoutMs: 60_000 }), 'runtime-disconnected');
    const [name = ''] = await podNames();
    await admin.ask('DELETE', `/api/v1/namespaces/${namespace}/pods/${name}`, {
      query: { gracePeriodSeconds: 0 },
    });
    expect((await refused).message).toMatch(/delete|ended/);
    await runtime.close();
  });

  test('because its memory is full ends the cell, whatever else a template runs in it', async () => {
    const sidecar = { name: 'more', image: clusterImages.bare, command: ['sleep', 'infinity'] };
    const template = { spec: { containers: [sidecar] } };
    await using runtime = await createRuntime({ ...cell, template, limits: { memoryBytes: 134_217_728 } });
    // Each is smaller than the executor, so the kernel ends that first. Where it ends whole groups, it ends all of them.
    const fill = 'for n in {1..40}; do { head -c 8M /dev/zero; sleep 1000; } | tail & done; wait';
    const error = await refusal(runtime.run(fill), 'runtime-disconnected');
    expect(error.message).toContain('Raise limits.memoryBytes');
  });

  test.each([
    ['at once', 0],
    ['with time to end', 30],
  ])('because its node is drained says so: %s', async (_what, gracePeriodSeconds) => {
    await using runtime = await createRuntime(cell);
    const refused = refusal(runtime.run('sleep 1000'), 'runtime-disconnected');
    const [name = ''] = await podNames();
    await admin.ask('POST', `/api/v1/namespaces/${namespace}/pods/${name}/eviction`, {
      body: {
        apiVersion: 'policy/v1',
        kind: 'Eviction',
        metadata: { name },
        deleteOptions: { gracePeriodSeconds },
      },
    });
    expect((await refused).message).toContain('as a drain of its node does (EvictionByEvictionAPI)');
  });

  // The node looks at the disk every ten seconds.
  test('because its disk is full tells what the node says', { timeout: 180_000 }, async () => {
    await using runtime = await createRuntime({ ...cell, limits: { diskBytes: 1_048_576 } });
    const fill = runtime.run('head -c 300M /dev/zero > much; sleep 1000', { noChangeTimeoutMs: 170_000 });
    const error = await refusal(fill, 'runtime-disconnected');
    expect(error.message).toMatch(/evicted the pod: .*ephemeral.* storage/);
  });

  test('because its start is cancelled leaves nothing', async () => {
    const stop = new AbortController();
    const starting = createRuntime({ ...cell, signal: stop.signal });
    await eventually(async () => (await podNames()).length === 1);
    stop.abort();
    await refusal(starting, 'cancelled');
  });
});

describe('when who started it is killed', () => {
  test('a kept cell is found again by id, and what was not kept goes with the next start', async () => {
    // Where this process has started nothing yet: it looks now and then.
    const namespace = await makeNamespace(admin);
    const { child, kept, temporary } = await startOwner(namespace);
    child.kill('SIGKILL');
    await once(child, 'exit');
    // As when its machine starts again.
    rmSync(temporary, { recursive: true });
    expect(await podNames(namespace)).toHaveLength(2);
    await reapPods(admin, namespace);
    expect(await podNames(namespace)).toEqual([`workcell-${kept}`]);
    const place = { kubeconfig, namespace };
    expect(await kubernetes.list?.(place)).toMatchObject([
      { id: kept, status: 'running', isolation: 'container', labels: { team: 'blue' } },
    ]);
    const context = { id: kept, onStatus() {} };
    const found = await kubernetes.attach?.(kept, place, context);
    await refusal(kubernetes.attach?.(kept, place, context) ?? Promise.resolve(), 'cell-in-use');
    expect(await kubernetes.stats?.(kept, place, {})).toMatchObject({
      observation: 'stats',
      processes: expect.any(Number),
    });
    await refusal(kubernetes.stats?.('none', place, {}) ?? Promise.resolve(), 'cell-not-found');
    const action = { action: 'run', command: 'cat note', maxOutputBytes: 4096 } as never;
    expect(await found?.executor.execute<'run'>(action)).toMatchObject({ output: 'from before\n' });
    await found?.stop();
    await found?.stop();
    expect(await kubernetes.list?.(place)).toEqual([]);
    await refusal(kubernetes.attach?.(kept, place, context) ?? Promise.resolve(), 'cell-not-found');
  });

  test('who attaches to a kept cell that has ended since removes it and learns why it ended', async () => {
    const id = randomBytes(8).toString('hex');
    const place = { kubeconfig, namespace };
    const context = { id, onStatus() {} };
    const cell = await kubernetes.start({ ...options, keepAlive: true }, context);
    const action = { action: 'run', command: 'kill -TERM 1', maxOutputBytes: 4096 } as never;
    await Promise.allSettled([cell.executor.execute<'run'>(action), cell.lost]);
    await cell.detach?.();
    const isLost = async () => (await kubernetes.list?.(place))?.[0]?.status === 'lost';
    await eventually(isLost, 'the cell is lost');
    const attach = () => kubernetes.attach?.(id, place, context) ?? Promise.resolve();
    expect((await refusal(attach(), 'runtime-disconnected')).message).toContain('exited with code 0');
    expect(await podNames()).toEqual([]);
    await refusal(attach(), 'cell-not-found');
  });
});

test('pods that ended are removed from any machine, now and then; those that are kept or still run are not', async () => {
  const namespace = await makeNamespace(admin);
  const pods = `/api/v1/namespaces/${namespace}/pods`;
  const make = async (name: string, keepAlive: boolean, phase: string) => {
    const labels = ownLabels({ id: name, keepAlive, home: '' });
    const metadata = { name, labels: { ...labels, 'workcell.machine': 'another', 'workcell.owner': 'o' } };
    const spec = {
      nodeSelector: { disk: 'none' },
      containers: [{ name: 'cell', image: clusterImages.bare }],
    };
    await admin.ask('POST', pods, { body: { metadata, spec } });
    await admin.ask('PATCH', `${pods}/${name}/status`, { body: { status: { phase } } });
  };
  await make('ended', false, 'Failed');
  await make('kept', true, 'Failed');
  await make('running', false, 'Running');
  await reapPods(admin, namespace);
  expect(await podNames(namespace)).toEqual(['kept', 'running']);
  await make('later', false, 'Succeeded');
  await reapPods(admin, namespace);
  expect(await podNames(namespace)).toContain('later');
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 600_000 });
  onTestFinished(() => void vi.useRealTimers());
  await reapPods(admin, namespace);
  expect(await podNames(namespace)).toEqual(['kept', 'running']);
});

describe('an API server that goes away', () => {
  test('ends no cell: what runs goes on, and so does the watch', async () => {
    const way = await cuttable(kubeconfig);
    try {
      const runtime = await createRuntime({ ...cell, kubeconfig: way.kubeconfig });
      const running = runtime.run('for n in 1 2 3; do echo $n; sleep 0.3; done');
      way.down();
      await way.up();
      expect((await running).output).toBe('1\n2\n3\n');
      const refused = refusal(runtime.run('sleep 1000'), 'runtime-disconnected');
      const [name = ''] = await podNames();
      await admin.ask('DELETE', `/api/v1/namespaces/${namespace}/pods/${name}`, {
        query: { gracePeriodSeconds: 0 },
      });
      await refused;
      await runtime.close();
    } finally {
      way.close();
    }
  });
});

async function podNames(where = namespace): Promise<string[]> {
  const { items } = await admin.ask<List<Pod>>('GET', `/api/v1/namespaces/${where}/pods`);
  return items.map(({ metadata }) => metadata.name);
}

/** A process with a kept cell and another one. */
async function startOwner(
  namespace: string,
): Promise<{ child: ChildProcess; kept: string; temporary: string }> {
  const temporary = mkdtempSync(join(tmpdir(), 'workcell-owner-'));
  const [kept = '', other = ''] = [1, 2].map(() => randomBytes(8).toString('hex'));
  const program = `
    import kubernetes from './src/backends/kubernetes.ts';
    const options = ${JSON.stringify({ ...options, namespace, labels: { team: 'blue' } })};
    const start = (id, keepAlive) => kubernetes.start({ ...options, keepAlive }, { id, onStatus() {} });
    const [cell] = await Promise.all([start('${kept}', true), start('${other}', false)]);
    await cell.executor.execute({ action: 'run', command: 'echo from before > note', maxOutputBytes: 4096 });
    console.log('started');
    setInterval(() => {}, 1000);`;
  const child = spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '--eval', program], {
    cwd: new URL('../../..', import.meta.url),
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, TMPDIR: temporary, XDG_RUNTIME_DIR: temporary },
  });
  await once(child.stdout, 'data');
  return { child, kept, temporary };
}
