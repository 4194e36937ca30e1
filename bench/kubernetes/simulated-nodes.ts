/**
 * Plays the kubelets of nodes that do not exist: says that each pod on them runs, as soon as it is there. A program of
 * its own, so that its memory is not that of the owner of the cells. Ends with its standard input.
 */
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { ClusterClient, ClusterRefusal } from '../../src/backends/kubernetes/cluster-client.js';
import { findCluster } from '../../src/backends/kubernetes/kubeconfig.js';
import { type Pod, podPath, podsPath } from '../../src/backends/kubernetes/objects.js';

const [kubeconfig = '', namespace = '', nodes = '0'] = process.argv.slice(2);
const client = new ClusterClient(findCluster({ kubeconfig }));
const names = Array.from({ length: Number(nodes) }, (_, index) => `simulated-${index}`);
const now = () => new Date().toISOString();
const renewMs = 15_000;
const atOnce = 32;
const leases = '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases';

for (const name of names) await makeNode(name);
setInterval(() => void renew(), renewMs);
process.stdin.resume().once('end', () => process.exit());
const waiting: string[] = [];
let busy = 0;
const watch = () =>
  client.open('GET', podsPath(namespace), {
    query: { watch: true, labelSelector: 'workcell.id', resourceVersion: 0 },
  });
let stream = await watch();
console.log('ready');
// A server under load ends watches. Each new one begins with all pods.
for (; ; stream = await watch())
  for await (const line of linesOf(stream)) {
    const { type, object } = JSON.parse(line) as { type: string; object: Pod };
    if (type !== 'ADDED' || object.status?.phase === 'Running') continue;
    waiting.push(object.metadata.name);
    if (busy < atOnce) void work();
  }

async function* linesOf(input: Readable): AsyncGenerator<string> {
  try {
    yield* createInterface({ input });
  } catch (error) {
    console.error((error as Error).message);
  }
}

async function work(): Promise<void> {
  busy++;
  for (let name = waiting.shift(); name !== undefined; name = waiting.shift())
    await unlessThere(
      client.ask('PATCH', `${podPath(namespace, name)}/status`, { body: { status: running() } }),
    );
  busy--;
}

function running(): object {
  const state = { running: { startedAt: now() } };
  const status = { name: 'cell', ready: true, restartCount: 0, image: '', imageID: '', state };
  return {
    phase: 'Running',
    podIP: '10.0.0.1',
    conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: now() }],
    containerStatuses: [status],
  };
}

async function makeNode(name: string): Promise<void> {
  await unlessThere(client.ask('POST', '/api/v1/nodes', { body: { metadata: { name } } }));
  const capacity = { pods: '1000', cpu: '1000', memory: '1000Gi' };
  const conditions = [{ type: 'Ready', status: 'True', reason: 'Simulated', lastHeartbeatTime: now() }];
  await client.ask('PATCH', `/api/v1/nodes/${name}/status`, {
    body: { status: { capacity, allocatable: capacity, conditions } },
  });
  const spec = { holderIdentity: name, leaseDurationSeconds: 40, renewTime: microseconds() };
  await unlessThere(client.ask('POST', leases, { body: { metadata: { name }, spec } }));
}

/** The cluster takes a node without it for lost, and works on all its pods. */
async function renew(): Promise<void> {
  for (const name of names)
    await client.ask('PATCH', `${leases}/${name}`, { body: { spec: { renewTime: microseconds() } } });
}

function microseconds(): string {
  return now().replace('Z', '000Z');
}

/** A pod may be gone, and a node from an earlier run there. */
async function unlessThere(answer: Promise<unknown>): Promise<void> {
  await answer.catch((error: unknown) => {
    if (!(error instanceof ClusterRefusal && (error.status === 409 || error.status === 404))) throw error;
  });
}
