/** What deploy/ has, each started on a real engine: the image, the compose file, the chart. */
import { randomBytes } from 'node:crypto';
import { chownSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import type { List, Pod } from '../../src/backends/kubernetes/objects.js';
import { loadConfig } from '../../src/config/load-config.js';
import { readTemplates } from '../../src/service/templates.js';
import { eventually } from '../../src/testing/contract/given.js';
import { adminOf, makeNamespace } from '../backends/kubernetes/namespaces.js';
import { dockerEngine } from '../engines/docker.js';
import { clusterImages, kubernetesCluster } from '../engines/kubernetes.js';
import { checkout } from '../house/source.js';
import { farService } from './far-service.js';
import { buildServiceImage, run } from './service-image.js';

/** The user of the image. */
const user = 65_532;
const image = `workcell-service:${randomBytes(6).toString('hex')}`;
const folder = mkdtempSync(join(tmpdir(), 'deploy-'));
const { host: engine, networkPid } = await dockerEngine();
const docker = async (...words: string[]) =>
  (await run('docker', ['--host', engine, ...words])).stdout.trim();

beforeAll(() => buildServiceImage(engine, image), 300_000);
afterAll(async () => {
  await docker('image', 'rm', image, `${image}-base`);
  rmSync(folder, { recursive: true, force: true });
});

describe('the compose file', () => {
  const project = `deploy-${randomBytes(4).toString('hex')}`;
  const data = join(folder, 'data');
  const key = randomBytes(24).toString('hex');
  const socket = engine.slice('unix://'.length);
  const env = {
    ...process.env,
    COMPOSE_PROJECT_NAME: project,
    DOCKER_HOST: engine,
    DOCKER_SOCKET: socket,
    DOCKER_GROUP: String(statSync(socket).gid),
    WORKCELL_IMAGE: image,
    WORKCELL_DATA: data,
    WORKCELL_ADDRESS: '127.0.0.1:8720',
    WORKCELL_OPERATOR_KEY: join(folder, 'operator-key'),
  };
  const compose = (...words: string[]) =>
    run('docker-compose', ['--file', join(checkout, 'deploy/compose/compose.yaml'), ...words], { env });
  const ofProject = (...words: string[]) =>
    docker(...words, '--filter', `label=com.docker.compose.project=${project}`, '--quiet');
  const service = async () => {
    const far = await farService(networkPid, { host: '127.0.0.1', port: 8720, apiKey: key });
    await eventually(() => far.client.status().then(...isSo), 'the service answers');
    return far;
  };

  beforeAll(() => {
    mkdirSync(data, { mode: 0o700 });
    writeFileSync(env.WORKCELL_OPERATOR_KEY, key, { mode: 0o400 });
    for (const path of [data, env.WORKCELL_OPERATOR_KEY]) chownSync(path, user, user);
  });
  afterAll(() => compose('down', '--volumes'));

  test('brings up a service whose cells and records survive its restart, and takes it down again', async () => {
    await compose('up', '--detach');
    const far = await service();
    const { client, output } = far;
    const cell = await client.create({ name: 'kept' });
    expect(cell).toMatchObject({ state: 'running', backend: 'docker', isolation: 'container' });
    expect(await output('kept', 'export STAGE=one; echo content >file; . /etc/os-release; echo $ID')).toBe(
      'debian\n',
    );
    const made = await client.createKey({ tenant: 'web' });

    const id = await ofProject('ps');
    await eventually(async () => {
      const [status] = JSON.parse(await docker('inspect', '--format', '[{{json .State.Health.Status}}]', id));
      return status === 'healthy';
    }, 'the container is healthy');
    expect(await docker('exec', id, 'id', '-u')).toBe(String(user));
    // The driver of the other store.
    await docker('exec', id, 'node', '--eval', "require('/usr/local/lib/workcell/node_modules/pg')");
    await expect(docker('exec', id, 'touch', '/usr/local/lib/workcell/x')).rejects.toThrow(
      'Read-only file system',
    );

    // A new container, as for a new version; the old one gets SIGTERM and ends by itself.
    await compose('stop');
    expect(await docker('inspect', '--format', '{{.State.ExitCode}}', id)).toBe('0');
    await compose('up', '--detach', '--force-recreate');
    expect(await ofProject('ps')).not.toBe(id);
    await eventually(() => client.status().then(...isSo), 'the service answers again');
    expect(await output('kept', 'echo $STAGE; cat file')).toBe('one\ncontent\n');
    expect((await client.get('kept')).id).toBe(cell.id);
    expect((await client.listKeys()).keys.map((each) => each.id)).toContain(made.id);

    // Nobody has the lease of a cell once the service has stopped, so it can be ended without the service, too.
    await compose('stop');
    far.close();
    await compose('run', '--rm', 'service', 'cells', 'stop', cell.id);
    await compose('down');
    expect(await ofProject('ps', '--all')).toBe('');
    expect(await ofProject('network', 'ls')).toBe('');
    expect(await docker('ps', '--all', '--quiet', '--filter', `label=workcell.id=${cell.id}`)).toBe('');
  }, 180_000);
});

describe('the chart', () => {
  const chart = join(checkout, 'deploy/helm/workcell');
  const helm = (...words: string[]) => run(join(checkout, 'scripts/engines/helm'), words);
  const values = join(folder, 'values.yaml');
  const volume = `deploy-${randomBytes(4).toString('hex')}`;
  const rendered = (...words: string[]) => renderedAs('cells', ...words);
  const renderedAs = async (release: string, ...words: string[]) => {
    const { stdout } = await helm('template', release, chart, ...words);
    return parseAllDocuments(stdout).map((document) => document.toJS());
  };

  test('gives the service the rights of deploy/kubernetes/rbac.yaml, and no others', async () => {
    const objects = await rendered();
    const roles = objects.filter(({ kind }) => /Role$/.test(kind));
    const own = parse(readFileSync(join(checkout, 'deploy/kubernetes/rbac.yaml'), 'utf8'));
    expect(roles).toMatchObject([{ kind: 'Role' }, { kind: 'Role' }]);
    const [service, removal] = roles;
    expect(service.rules).toEqual(own.rules);
    // What ends the cells may stop this service, and no other, under an account that only it has.
    const { name } = service.metadata;
    expect(removal.metadata.annotations).toMatchObject({ 'helm.sh/hook': 'pre-delete' });
    expect(removal.rules).toEqual([
      { apiGroups: [''], resources: ['pods'], verbs: ['list', 'delete'] },
      { apiGroups: ['apps'], resources: ['deployments'], resourceNames: [name], verbs: ['get'] },
      { apiGroups: ['apps'], resources: ['deployments/scale'], resourceNames: [name], verbs: ['patch'] },
    ]);
    const accounts = objects
      .filter(({ kind }) => kind === 'RoleBinding')
      .map(({ roleRef, subjects }) => [roleRef.name, subjects[0].name]);
    expect(accounts).toEqual([service, removal].map(({ metadata }) => [metadata.name, metadata.name]));
    const long = await renderedAs(`cells-${'x'.repeat(47)}`);
    for (const { metadata } of long) expect(metadata.name.length).toBeLessThanOrEqual(63);
  }, 600_000);

  test('refuses values that it does not know, or that do not fit', async () => {
    const wrong = [
      ['replicas=3', 'replicas'],
      ['templates.default.pool=many', 'pool'],
      ['templates.Default.pool=1', 'Default'],
      ['persistence.accessMode=ReadWriteMany', 'accessMode'],
    ];
    for (const [value = '', named = ''] of wrong)
      await expect(helm('template', 'cells', chart, '--set', value)).rejects.toThrow(named);
    await expect(helm('template', 'cells', chart, '--set', 'ingress.enabled=true')).rejects.toThrow(
      'ingress.host',
    );
  });

  test('renders what a cluster and a service accept, with every value', async () => {
    const { kubeconfig } = await kubernetesCluster();
    const namespace = await makeNamespace(adminOf(kubeconfig));
    const every = fileURLToPath(new URL('every-value.yaml', import.meta.url));
    const at = ['--kubeconfig', kubeconfig, '--namespace', namespace, '--dry-run=server'];
    await helm('install', 'cells', chart, '--values', every, ...at);
    const objects = await rendered('--values', every);
    const { spec } = objects.find(({ kind }) => kind === 'Deployment').spec.template;
    const valueFrom = { secretKeyRef: { name: 'database', key: 'address' } };
    expect(spec.containers[0].env).toEqual(
      ['WORKCELL_SERVICE_STORE', 'WORKCELL_EVENTS_STORE'].map((name) => ({ name, valueFrom })),
    );
    const settings = objects.find(({ kind }) => kind === 'ConfigMap');
    const file = join(folder, 'service.toml');
    writeFileSync(file, settings.data['service.toml'], { mode: 0o600 });
    const config = await loadConfig({ cwd: folder, env: {}, file });
    const templates = await readTemplates(config, {}, async () => 'none');
    expect(templates.get('python')).toMatchObject({ backend: 'kubernetes', pool: 2 });
    expect(templates.get('python')?.options('web', {})).toMatchObject({
      labels: { a: 'b', 'workcell.release': 'cells' },
    });
    expect(config.values.service).toMatchObject({ max_cells: 7, tenants: { web: { max_cells: 3 } } });
  });

  test('installs a service whose cells are pods, keeps them over an upgrade, and leaves nothing', async () => {
    const { kubeconfig, networkPid: inside } = await kubernetesCluster();
    const admin = adminOf(kubeconfig);
    await importImage(dirname(kubeconfig));
    // The strictest level that a cluster has: the service keeps to it, as its cells do.
    const namespace = await makeNamespace(admin, { 'pod-security.kubernetes.io/enforce': 'restricted' });
    await makeVolume(admin);
    writeFileSync(values, JSON.stringify(valuesOf()));
    const at = ['--kubeconfig', kubeconfig, '--namespace', namespace, '--wait', '--timeout', '2m'];
    const core = `/api/v1/namespaces/${namespace}`;
    const pods = async (selector: string) =>
      (await admin.ask<List<Pod>>('GET', `${core}/pods`, { query: { labelSelector: selector } })).items;
    const keyOf = async () => {
      const { data } = await admin.ask<{ data: Record<string, string> }>(
        'GET',
        `${core}/secrets/cells-workcell`,
      );
      return Buffer.from(data['operator-key'] ?? '', 'base64').toString();
    };
    // What a client of the Service connects to; no program of this cluster makes its address work.
    const service = async () => {
      const { subsets } = await admin.ask<Endpoints>('GET', `${core}/endpoints/cells-workcell`);
      const { ip = '' } = subsets[0]?.addresses[0] ?? {};
      const { port = 0 } = subsets[0]?.ports[0] ?? {};
      return farService(inside, { host: ip, port, apiKey: await keyOf() });
    };
    const before = await namesIn(admin, namespace);

    await helm('install', 'cells', chart, '--values', values, ...at);
    const first = await service();
    const cell = await first.client.create({ name: 'kept' });
    expect(cell).toMatchObject({ state: 'running', backend: 'kubernetes' });
    expect(await first.output('kept', 'export STAGE=one; id -u')).toBe('1000\n');
    expect(await pods(`workcell.id=${cell.id}`)).toHaveLength(1);
    const key = await keyOf();
    first.close();

    await helm('upgrade', 'cells', chart, '--values', values, '--set', 'config.service.max_cells=60', ...at);
    const second = await service();
    expect(await keyOf()).toBe(key);
    expect(await second.output('kept', 'echo $STAGE')).toBe('one\n');
    expect((await second.client.get('kept')).id).toBe(cell.id);
    // The service goes on making cells while the release goes, also when what it makes is taken away.
    let more = true;
    const { client } = second;
    const isThere = () => client.status().then(...isSo);
    const making = (async () => {
      for (let count = 0; more; count++)
        await client.create({ name: `late-${count}` }).catch(async () => (more &&= await isThere()));
    })();
    await eventually(async () => (await pods('workcell.id')).length > 2, 'cells are being made');

    await helm('uninstall', 'cells', ...at);
    expect(await pods('workcell.id')).toEqual([]);
    more = false;
    await making;
    second.close();
    await eventually(async () => (await pods('')).length === 0, 'all pods are gone');
    await eventually(
      async () => JSON.stringify(await namesIn(admin, namespace)) === JSON.stringify(before),
      'nothing is left',
    );
    await admin.ask('DELETE', `/api/v1/persistentvolumes/${volume}`);
  }, 300_000);

  function valuesOf(): object {
    const [repository, tag] = image.split(':');
    return {
      image: { repository: `docker.io/library/${repository}`, tag, pullPolicy: 'Never' },
      templates: {
        default: {
          options: {
            image: clusterImages.bare,
            executor_image: clusterImages.executor,
            image_pull_policy: 'Never',
          },
        },
      },
      persistence: { storageClass: volume },
      // The address of the API server on its node: the cluster of the tests has no kube-proxy.
      env: [
        { name: 'KUBERNETES_SERVICE_HOST', value: '10.243.0.1' },
        { name: 'KUBERNETES_SERVICE_PORT', value: '6443' },
      ],
    };
  }

  async function importImage(cluster: string): Promise<void> {
    const saved = join(folder, 'image.tar');
    await docker('save', '--output', saved, image);
    await run('ctr', ['--address', join(cluster, 'c'), '--namespace', 'k8s.io', 'images', 'import', saved]);
    rmSync(saved);
  }

  async function makeVolume(admin: ReturnType<typeof adminOf>): Promise<void> {
    const path = join(folder, 'volume');
    mkdirSync(path, { mode: 0o700 });
    chownSync(path, user, user);
    const spec = {
      storageClassName: volume,
      capacity: { storage: '4Gi' },
      accessModes: ['ReadWriteOnce'],
      persistentVolumeReclaimPolicy: 'Retain',
      hostPath: { path, type: 'Directory' },
    };
    await admin.ask('POST', '/api/v1/persistentvolumes', { body: { metadata: { name: volume }, spec } });
  }
});

interface Endpoints {
  readonly subsets: {
    readonly addresses: { readonly ip: string }[];
    readonly ports: { readonly port: number }[];
  }[];
}

/** Every kind of object that a release, or a cell, makes. */
const kinds = [
  ...['pods', 'services', 'secrets', 'configmaps', 'serviceaccounts', 'persistentvolumeclaims'].map(
    (kind) => ['api/v1', kind],
  ),
  ...['networkpolicies', 'ingresses'].map((kind) => ['apis/networking.k8s.io/v1', kind]),
  ...['roles', 'rolebindings'].map((kind) => ['apis/rbac.authorization.k8s.io/v1', kind]),
  ['apis/apps/v1', 'deployments'],
  ['apis/batch/v1', 'jobs'],
] as const;

async function namesIn(admin: ReturnType<typeof adminOf>, namespace: string): Promise<string[]> {
  const lists = kinds.map(async ([group, kind]) => {
    const path = `/${group}/namespaces/${namespace}/${kind}`;
    const { items } = await admin.ask<List<{ metadata: { name: string } }>>('GET', path);
    return items.map(({ metadata }) => `${kind}/${metadata.name}`);
  });
  // The cluster makes these for every namespace, when it comes to it.
  return (await Promise.all(lists)).flat().filter((name) => name !== 'configmaps/kube-root-ca.crt');
}

const isSo = [() => true, () => false] as const;
