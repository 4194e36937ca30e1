/** Ends the pods of this release's cells. Whatever else a cell has belongs to its pod and goes with it. */
import { readFileSync } from 'node:fs';

const { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port, RELEASE: release } = process.env;
const account = (name) =>
  readFileSync(`/var/run/secrets/kubernetes.io/serviceaccount/${name}`, 'utf8').trim();
const pods = `https://${host.includes(':') ? `[${host}]` : host}:${port}/api/v1/namespaces/${account('namespace')}/pods`;

async function ask(method, url) {
  const response = await fetch(url, { method, headers: { authorization: `Bearer ${account('token')}` } });
  if (response.ok || response.status === 404) return response.json();
  throw new Error(`${method} ${url}: ${response.status} ${await response.text()}`);
}

const selector = encodeURIComponent(`workcell.id,workcell.release=${release}`);
const { items } = await ask('GET', `${pods}?labelSelector=${selector}`);
for (const { metadata } of items)
  await ask('DELETE', `${pods}/${metadata.name}?gracePeriodSeconds=0&propagationPolicy=Background`);
console.log(`${items.length} cells ended`);
