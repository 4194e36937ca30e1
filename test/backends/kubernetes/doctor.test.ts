/** What `workcell doctor` says of the cluster that the configuration names. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { workcell } from '../../cli/workcell.js';
import { type StubCluster, stubCluster } from './stub-cluster.js';

const directory = mkdtempSync(join(tmpdir(), 'workcell-doctor-'));
let cluster: StubCluster;
afterEach(() => {
  cluster.close();
  rmSync(directory, { recursive: true, force: true });
});

test('the configured kubeconfig, context and namespace are what doctor looks at', async () => {
  cluster = await stubCluster(({ path }) => {
    if (path === '/version') return { gitVersion: 'v1.99.0' };
    if (path.endsWith('/selfsubjectaccessreviews')) return { status: { allowed: true } };
    if (path === '/api/v1/namespaces/agents') return { metadata: { labels: {} } };
    if (path.endsWith('/networkpolicies/workcell-network-none'))
      return { metadata: { annotations: { 'workcell.effect': `enforced ${new Date().toISOString()}` } } };
    return { metadata: {}, items: [] };
  });
  const config = join(directory, 'workcell.toml');
  writeFileSync(
    config,
    `[backends.kubernetes]\nkubeconfig = "${cluster.kubeconfig}"\ncontext = "c"\nnamespace = "agents"\n`,
    { mode: 0o600 },
  );
  const { stdout } = await workcell(['doctor', '--json'], { env: { WORKCELL_CONFIG: config } });
  const { available, summary } = JSON.parse(stdout).backends.kubernetes;
  expect(available).toBe(true);
  expect(summary).toMatch(/^Kubernetes v1\.99\.0 at http:\/\/127\.0\.0\.1:\d+, namespace agents: /);
  expect(summary).toContain('Network policies: enforced.');
  const asked = cluster.requests.filter(({ path }) => path.endsWith('/selfsubjectaccessreviews'));
  const namespaces = asked.map(
    ({ body }) => (body as { spec?: { resourceAttributes?: { namespace?: string } } }).spec,
  );
  for (const spec of namespaces) expect(spec).toMatchObject({ resourceAttributes: { namespace: 'agents' } });
});
