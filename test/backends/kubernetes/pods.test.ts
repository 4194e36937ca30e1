/** What a pod is made of, and what it may do. */
import { randomBytes, randomUUID } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { executorBundle } from '../../../src/backends/images/bundle/executor-bundle.js';
import { ClusterRefusal } from '../../../src/backends/kubernetes/cluster-client.js';
import { kubernetesOptions } from '../../../src/backends/kubernetes/kubernetes-options.js';
import type { List, Pod } from '../../../src/backends/kubernetes/objects.js';
import { describePod } from '../../../src/backends/kubernetes/pod.js';
import { probeCluster } from '../../../src/backends/kubernetes/probe-cluster.js';
import kubernetes from '../../../src/backends/kubernetes.js';
import { createRuntime } from '../../../src/index.js';
import { isEnforced } from '../../../src/protocol/index.js';
import { eventually, refusal } from '../../../src/testing/contract/given.js';
import { clusterImages, kubernetesCluster } from '../../engines/kubernetes.js';
import { adminOf, changedKubeconfig, makeNamespace } from './namespaces.js';

const { kubeconfig } = await kubernetesCluster();
const admin = adminOf(kubeconfig);
const namespace = await makeNamespace(admin, { 'pod-security.kubernetes.io/enforce': 'restricted' });
const core = `/api/v1/namespaces/${namespace}`;
const cell = {
  backend: 'kubernetes',
  config: false,
  kubeconfig,
  namespace,
  image: clusterImages.bare,
  imagePullPolicy: 'Never',
} as const;

const volume = `volume-${namespace}`;
beforeAll(() =>
  admin.ask('POST', '/api/v1/persistentvolumes', {
    body: {
      metadata: { name: volume },
      spec: {
        storageClassName: volume,
        capacity: { storage: '1Gi' },
        accessModes: ['ReadWriteOnce'],
        persistentVolumeReclaimPolicy: 'Retain',
        // Of the node: in its memory, where everybody may write.
        hostPath: { path: '/dev/shm', type: 'Directory' },
      },
    },
  }),
);
afterAll(() => admin.ask('DELETE', `/api/v1/persistentvolumes/${volume}`));

test('nobody else of this machine can read the credentials of the test cluster', () => {
  const modes = [kubeconfig, dirname(kubeconfig)].map((path) => statSync(path).mode & 0o777);
  expect(modes).toEqual([0o600, 0o700]);
});

test('a namespace that enforces the level "restricted" takes it, and nothing in it is more than it needs', async () => {
  const given = { ...cell, env: { GREETING: 'hello' }, labels: { team: 'blue' } };
  await using runtime = await createRuntime(given);
  const { output } = await runtime.run(
    'echo $GREETING; id -u; ls /var/run/secrets 2>&1; touch /etc/x 2>&1; grep -E "CapBnd|NoNewPrivs|Seccomp:" /proc/self/status',
  );
  expect(output).toMatch(
    /^hello\n1000\n.*No such file.*\n.*Read-only file system\nCapBnd:\t0+\nNoNewPrivs:\t1\nSeccomp:\t2\n$/s,
  );
  expect(runtime.isolation.tier).toBe('container');
  for (const code of ['privileges', 'seccomp', 'files'] as const)
    expect(isEnforced(runtime.isolation, code)).toBe(true);
  for (const code of ['executor', 'network'] as const)
    expect(isEnforced(runtime.isolation, code)).toBe(false);
  const [pod] = await pods();
  expect(pod?.metadata.labels).toMatchObject({ team: 'blue', 'workcell.network': 'none' });
  const policies = await admin.ask<List<Pick<Pod, 'metadata' | 'spec'>>>(
    'GET',
    `/apis/networking.k8s.io/v1/namespaces/${namespace}/networkpolicies`,
  );
  // The network of this cluster knows no policies, and the cell has found out.
  expect(policies.items[0]?.metadata.annotations).toEqual({
    'workcell.effect': expect.stringMatching(/^not enforced 20/),
  });
  expect(policies.items.map(({ spec }) => spec)).toEqual([
    { podSelector: { matchLabels: { 'workcell.network': 'none' } }, policyTypes: ['Ingress', 'Egress'] },
  ]);
  // Settings come by standard input: neither the variables nor the token stand in the pod.
  expect(JSON.stringify(pod)).not.toMatch(/GREETING|"token"/i);
});

test('a demand for no network is refused where the policy is not enforced', async () => {
  await refusal(createRuntime({ ...cell, minIsolation: { facts: ['network'] } }), 'isolation-too-weak');
  await eventually(async () => (await pods()).length === 0);
});

test('a template that weakens the cell is refused unless allowed, and ours counts where both say something', async () => {
  const template = {
    metadata: { annotations: { owner: 'somebody' } },
    spec: {
      hostNetwork: true,
      securityContext: { runAsNonRoot: false, supplementalGroups: [4242] },
      containers: [
        {
          name: 'cell',
          env: [{ name: 'FROM_TEMPLATE', value: 'yes' }],
          securityContext: { privileged: true },
        },
      ],
    },
  };
  const error = await refusal(createRuntime({ ...cell, template }), 'invalid-config');
  expect(error.message).toContain('spec.hostNetwork');
  await using runtime = await createRuntime({ ...cell, template, allowWeakTemplate: true });
  expect(isEnforced(runtime.isolation, 'files')).toBe(false);
  expect((await runtime.run('echo $FROM_TEMPLATE; id -G')).output).toMatch(/^yes\n1000 4242\n$/);
  const [pod] = await pods();
  expect(pod?.metadata.annotations).toMatchObject({ owner: 'somebody' });
  expect(pod?.spec).toMatchObject({ securityContext: { runAsNonRoot: true } });
});

test('the cluster takes the smallest limits', async () => {
  const options = z.object(kubernetesOptions).parse({ limits: { cpus: 0.001, memoryBytes: 67_108_864 } });
  const parts = { options, bundle: await executorBundle(), claim: undefined };
  const body = describePod({ ...parts, name: 'small', marks: { labels: {}, annotations: {} } });
  await admin.ask('POST', `${core}/pods`, { query: { dryRun: 'All' }, body });
});

test('a volume, a service and an ingress go with the pod', async () => {
  const runtime = await createRuntime({
    ...cell,
    volume: { size: '1Gi', storageClass: volume },
    ports: [8080],
    ingress: { domain: 'cells.test', tlsSecret: 'tls' },
  });
  const [pod] = await pods();
  const name = pod?.metadata.name ?? '';
  const file = `${namespace}-note`;
  await runtime.run(`echo kept > ${file}`);
  expect(readFileSync(`/dev/shm/${file}`, 'utf8')).toBe('kept\n');
  await runtime.run(`rm ${file}`);
  const claims = await admin.ask<List<Pod>>('GET', `${core}/persistentvolumeclaims`);
  const owned = [
    ...claims.items.map(({ metadata }) => `${core}/persistentvolumeclaims/${metadata.name}`),
    `${core}/services/${name}`,
    `/apis/networking.k8s.io/v1/namespaces/${namespace}/ingresses/${name}`,
  ];
  expect(owned).toHaveLength(3);
  for (const path of owned) await admin.ask('GET', path);
  await runtime.close();
  const isGone = (path: string) =>
    admin.ask('GET', path).then(
      () => false,
      (error) => error instanceof ClusterRefusal && error.status === 404,
    );
  for (const path of owned) await eventually(() => isGone(path), `${path} is gone`);
});

test('a cell with the id of an earlier one gets a service of its own, not the one that goes with that', async () => {
  const id = randomBytes(8).toString('hex');
  const path = `${core}/services/workcell-${id}`;
  // Of a pod that is gone. Its finalizer holds it until we let go.
  const gone = { apiVersion: 'v1', kind: 'Pod', name: `workcell-${id}`, uid: randomUUID() };
  const metadata = { name: gone.name, ownerReferences: [gone], finalizers: ['example.test/held'] };
  const body = { metadata, spec: { ports: [{ port: 1 }] } };
  await admin.ask('POST', `${core}/services`, { body });
  const { backend: _backend, config: _config, ...options } = cell;
  const starting = kubernetes.start({ ...options, ports: [8080] }, { id, onStatus() {} });
  const service = () => admin.ask<Pick<Pod, 'metadata'>>('GET', path);
  await eventually(async () => (await service()).metadata.deletionTimestamp !== undefined);
  await eventually(async () => (await pods()).length === 1);
  await admin.ask('PATCH', path, { body: { metadata: { finalizers: null } } });
  const started = await starting;
  const [pod] = await pods();
  expect((await service()).metadata.ownerReferences).toMatchObject([{ uid: pod?.metadata.uid }]);
  await started.stop();
});

test('the rights of deploy/kubernetes/rbac.yaml are enough, and fewer are told of', async () => {
  const role = parse(readFileSync(new URL('../../../deploy/kubernetes/rbac.yaml', import.meta.url), 'utf8'));
  await admin.ask('POST', `${core}/serviceaccounts`, { body: { metadata: { name: 'starter' } } });
  const { status } = await admin.ask<{ status: { token: string } }>(
    'POST',
    `${core}/serviceaccounts/starter/token`,
    { body: { spec: { expirationSeconds: 3600 } } },
  );
  const limited = changedKubeconfig(kubeconfig, ({ users }) => {
    if (users[0] !== undefined) users[0].user = { token: status.token };
  });
  const given = { ...cell, kubeconfig: limited, ports: [8080] };
  const before = await probeCluster({ kubeconfig: limited });
  expect(before).toMatchObject({
    available: false,
    summary: expect.stringMatching(/may not: create pods, .*attach/),
  });
  const error = await refusal(createRuntime(given), 'permission-denied');
  expect(error.message).toContain('rbac.yaml');
  const rbac = `/apis/rbac.authorization.k8s.io/v1/namespaces/${namespace}`;
  await admin.ask('POST', `${rbac}/roles`, { body: role });
  await admin.ask('POST', `${rbac}/rolebindings`, {
    body: {
      metadata: { name: 'starter' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'workcell' },
      subjects: [{ kind: 'ServiceAccount', name: 'starter', namespace }],
    },
  });
  await using runtime = await createRuntime(given);
  expect((await runtime.run('echo works')).output).toBe('works\n');
  const selector = { nodeSelector: { disk: 'none' }, startTimeoutMs: 2000 };
  const late = await refusal(createRuntime({ ...given, ...selector }), 'backend-unavailable');
  expect(late.message).toContain('FailedScheduling');
});

test('a probe tells the version, the rights and the runtime classes', async () => {
  const probe = await probeCluster({ kubeconfig });
  expect(probe).toMatchObject({ available: true, tier: 'container' });
  expect(probe.summary).toMatch(
    /^Kubernetes v1\.\d+.*namespace default.*Runtime classes: none.*resources: none.*Network policies: /,
  );
});

async function pods(): Promise<readonly Pod[]> {
  return (await admin.ask<List<Pod>>('GET', `${core}/pods`)).items;
}
