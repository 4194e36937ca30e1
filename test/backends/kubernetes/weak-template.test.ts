import { expect, test } from 'vitest';
import { z } from 'zod';
import { kubernetesOptions } from '../../../src/backends/kubernetes/kubernetes-options.js';
import { readPodIsolation } from '../../../src/backends/kubernetes/pod-facts.js';
import { checkTemplate } from '../../../src/backends/kubernetes/weak-template.js';
import { isEnforced } from '../../../src/protocol/index.js';

const withSpec = (spec: object, more: object = {}) =>
  z.object(kubernetesOptions).parse({ template: { spec }, ...more });
const withCell = (container: object) => withSpec({ containers: [{ name: 'cell', ...container }] });
const cell = 'spec.containers[cell]';

test.each([
  [`${cell}.securityContext.privileged`, withCell({ securityContext: { privileged: true } })],
  [
    `${cell}.securityContext.capabilities.add`,
    withCell({ securityContext: { capabilities: { add: ['SYS_ADMIN'] } } }),
  ],
  [
    `${cell}.securityContext.seccompProfile.type`,
    withCell({ securityContext: { seccompProfile: { type: 'Unconfined' } } }),
  ],
  [
    `${cell}.securityContext.appArmorProfile.type`,
    withCell({ securityContext: { appArmorProfile: { type: 'Unconfined' } } }),
  ],
  [`${cell}.securityContext.procMount`, withCell({ securityContext: { procMount: 'Unmasked' } })],
  [`${cell}.ports.hostPort`, withCell({ ports: [{ containerPort: 1, hostPort: 1 }] })],
  ['spec.securityContext.supplementalGroups', withSpec({ securityContext: { supplementalGroups: [0] } })],
  ['spec.hostNetwork', withSpec({ hostNetwork: true })],
  ['spec.hostPID', withSpec({ hostPID: true })],
  ['spec.hostIPC', withSpec({ hostIPC: true })],
  ['spec.shareProcessNamespace', withSpec({ shareProcessNamespace: true })],
  ['spec.automountServiceAccountToken', withSpec({ automountServiceAccountToken: true })],
  ['spec.volumes[0].hostPath', withSpec({ volumes: [{ name: 'h', hostPath: { path: '/' } }] })],
  [
    'spec.volumes[0].projected.serviceAccountToken',
    withSpec({ volumes: [{ name: 't', projected: { sources: [{ serviceAccountToken: { path: 't' } }] } }] }),
  ],
  [
    'spec.initContainers[first].securityContext.runAsUser',
    withSpec({ initContainers: [{ name: 'first', securityContext: { runAsUser: 0 } }] }),
  ],
  [
    'annotation container.apparmor.security.beta.kubernetes.io/cell',
    withSpec({}, { annotations: { 'container.apparmor.security.beta.kubernetes.io/cell': 'unconfined' } }),
  ],
])('%s is refused by name, allowed when asked for, and then told', (place, options) => {
  const kernel = { seccomp: true, noNewPrivileges: true, capabilities: '0', version: 'Linux version 6.1.0' };
  expect(() => checkTemplate(options)).toThrow(
    expect.objectContaining({ code: 'invalid-config', details: { places: [place] } }),
  );
  const allowed = { ...options, allowWeakTemplate: true };
  checkTemplate(allowed);
  const told = readPodIsolation({ options: allowed, kernel, networkDenied: false });
  for (const code of ['files', 'devices', 'hard-links', 'set-id-files'] as const)
    expect(isEnforced(told, code)).toBe(false);
});

test.each([
  [`${cell}.command`, withCell({ command: ['sleep', 'infinity'] })],
  [`${cell}.args`, withCell({ args: ['x'] })],
])('%s is always refused: the executor runs there', (place, options) => {
  for (const allowWeakTemplate of [false, true])
    expect(() => checkTemplate({ ...options, allowWeakTemplate })).toThrow(
      expect.objectContaining({ details: { places: [place] } }),
    );
});

test('additions are no weakness', () => {
  checkTemplate(
    withSpec({
      securityContext: { supplementalGroups: [4242], seccompProfile: { type: 'Localhost' } },
      containers: [
        { name: 'sidecar', image: 'x', command: ['serve'] },
        { name: 'cell', env: [{ name: 'A', value: 'b' }] },
      ],
      volumes: [{ name: 'more', emptyDir: {} }],
    }),
  );
});
