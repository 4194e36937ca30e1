/** A program in a pod: it has the files of its service account, and no kubeconfig. */
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { kubernetesCluster } from '../../engines/kubernetes.js';
import { adminOf, makeNamespace } from './namespaces.js';

test('it is who its service account is, in the namespace of its pod', async () => {
  const { kubeconfig } = await kubernetesCluster();
  const admin = adminOf(kubeconfig);
  const namespace = await makeNamespace(admin);
  const { status } = await admin.ask<{ status: { token: string } }>(
    'POST',
    `/api/v1/namespaces/${namespace}/serviceaccounts/default/token`,
    { body: { spec: { expirationSeconds: 3600 } } },
  );
  const [{ cluster }] = parse(readFileSync(kubeconfig, 'utf8')).clusters;
  const directory = mkdtempSync(join(tmpdir(), 'workcell-account-'));
  try {
    writeFileSync(join(directory, 'token'), `${status.token}\n`, { mode: 0o600 });
    writeFileSync(join(directory, 'namespace'), namespace);
    writeFileSync(join(directory, 'ca.crt'), Buffer.from(cluster['certificate-authority-data'], 'base64'));
    const program = `
      import { openCluster } from './src/backends/kubernetes/cluster-client.ts';
      const client = openCluster({});
      const path = '/apis/authentication.k8s.io/v1/selfsubjectreviews';
      const { status } = await client.ask('POST', path, { body: {} });
      console.log(client.namespace, status.userInfo.username);`;
    // The place of these files is fixed, so this one sees another /var/run than everybody else.
    const inside = `mount -t tmpfs none /var/run/ && mkdir -p "$1" && mount --bind "$0" "$1" && shift &&
      exec "$@"`;
    const place = '/var/run/secrets/kubernetes.io/serviceaccount';
    const node = [process.execPath, '--import', 'tsx', '--input-type=module', '--eval', program];
    const { stdout } = await promisify(execFile)(
      'unshare',
      ['--mount', '--map-root-user', 'sh', '-c', inside, directory, place, ...node],
      {
        cwd: new URL('../../..', import.meta.url),
        env: {
          PATH: process.env.PATH,
          HOME: directory,
          KUBERNETES_SERVICE_HOST: '127.0.0.1',
          KUBERNETES_SERVICE_PORT: new URL(cluster.server).port,
        },
      },
    );
    expect(stdout).toBe(`${namespace} system:serviceaccount:${namespace}:default\n`);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
});
