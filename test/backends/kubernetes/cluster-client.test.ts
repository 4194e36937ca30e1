/** The client, on servers that refuse it, that are no cluster, or that break off. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, expect, test } from 'vitest';
import { openCluster } from '../../../src/backends/kubernetes/cluster-client.js';
import { refusal } from '../../../src/testing/contract/given.js';
import { type StubCluster, stubCluster } from './stub-cluster.js';

let cluster: StubCluster;
afterEach(() => cluster.close());
const directory = mkdtempSync(join(tmpdir(), 'workcell-client-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

/** A program that gives another token each time, without saying how long it counts. */
function plugin(name: string) {
  const path = join(directory, name);
  const count = join(directory, `${name}.count`);
  const script = `#!/bin/sh\necho >> ${count}\necho '{"status":{"token":"'$(wc -l < ${count})'"}}'\n`;
  writeFileSync(path, script, { mode: 0o755 });
  return {
    user: { exec: { apiVersion: 'client.authentication.k8s.io/v1', command: path } },
    runs: () => readFileSync(count, 'utf8').length,
  };
}

test('a token of a program that the cluster refuses is asked for again, once for all requests', async () => {
  const { user, runs } = plugin('login');
  let accepted = 'Bearer 1';
  cluster = await stubCluster(({ token }) => (token === accepted ? {} : 401), user);
  const client = openCluster({ kubeconfig: cluster.kubeconfig });
  await client.ask('GET', '/version');
  accepted = 'Bearer 2';
  await Promise.all([client.ask('GET', '/version'), client.ask('GET', '/version')]);
  expect(runs()).toBe(2);
});

test('a program whose tokens the cluster never takes is run twice', async () => {
  const { user, runs } = plugin('refused');
  cluster = await stubCluster(() => 401, user);
  const client = openCluster({ kubeconfig: cluster.kubeconfig });
  await expect(client.ask('GET', '/version')).rejects.toMatchObject({ status: 401 });
  expect(runs()).toBe(2);
});

test('an answer that is no JSON is told as that of another server', async () => {
  cluster = await stubCluster((_request, response) => {
    response.end('<html>Log in</html>');
    return undefined;
  });
  const client = openCluster({ kubeconfig: cluster.kubeconfig });
  const error = await refusal(client.ask('GET', '/version'), 'backend-unavailable');
  expect(error.message).toContain('<html>Log in</html>');
});

test.each([
  ['breaks off', 'backend-unavailable'],
  ['is cancelled', 'cancelled'],
] as const)('an answer that %s within its body is %s', async (what, code) => {
  const stop = new AbortController();
  cluster = await stubCluster((_request, response) => {
    response.writeHead(200, { 'content-length': 100 });
    response.write('{"begun":', () => (what === 'is cancelled' ? stop.abort() : response.destroy()));
    return undefined;
  });
  const client = openCluster({ kubeconfig: cluster.kubeconfig });
  await refusal(client.ask('GET', '/version', { signal: stop.signal }), code);
});
