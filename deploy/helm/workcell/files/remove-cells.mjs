/**
 * Stops the service, which would make more cells, and ends the pods of this release's cells. Whatever else a cell has belongs
 * to its pod and goes with it.
 */
import { readFileSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';

const { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port } = process.env;
const { RELEASE: release, DEPLOYMENT: deployment, SERVICE: service } = process.env;
const account = (name) =>
  readFileSync(`/var/run/secrets/kubernetes.io/serviceaccount/${name}`, 'utf8').trim();
const server = `https://${host.includes(':') ? `[${host}]` : host}:${port}`;
const namespace = account('namespace');
const pods = `${server}/api/v1/namespaces/${namespace}/pods`;
const deployed = `${server}/apis/apps/v1/namespaces/${namespace}/deployments/${deployment}`;
const end = Date.now() + 100_000;

/** Nothing where there is no such object. */
async function ask(method, url, body) {
  const headers = {
    authorization: `Bearer ${account('token')}`,
    'content-type': 'application/merge-patch+json',
  };
  const signal = AbortSignal.timeout(15_000);
  const response = await fetch(url, { method, headers, signal, body: body && JSON.stringify(body) });
  const text = await response.text();
  if (response.ok) return JSON.parse(text);
  if (response.status === 404) return undefined;
  throw new Error(`${method} ${url}: ${response.status} ${text.slice(0, 1000)}`);
}

/** Those below a number that is enough to go on with. */
async function podsWith(selector) {
  const { items } = await ask('GET', `${pods}?limit=500&labelSelector=${encodeURIComponent(selector)}`);
  return items;
}

async function until(what, done) {
  while (!(await done())) {
    if (Date.now() > end) throw new Error(`It took too long: ${what}.`);
    await wait(500);
  }
}

/** A cluster that has not seen the new number yet may still start a pod. */
async function isStopped() {
  const { metadata, status } = (await ask('GET', deployed)) ?? {};
  if (metadata !== undefined && (status?.observedGeneration ?? 0) < metadata.generation) return false;
  return (await podsWith(service)).length === 0;
}

const ended = new Set();
async function isEmpty() {
  const items = await podsWith(`workcell.id,workcell.release=${release}`);
  for (const { metadata } of items) {
    await ask('DELETE', `${pods}/${metadata.name}?gracePeriodSeconds=0&propagationPolicy=Background`);
    ended.add(metadata.name);
  }
  return items.length === 0;
}

await ask('PATCH', `${deployed}/scale`, { spec: { replicas: 0 } });
await until('the pod of the service is not gone', isStopped);
await until('cells are still there', isEmpty);
console.log(`${ended.size} cells ended`);
