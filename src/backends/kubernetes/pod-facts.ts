/**
 * What a pod enforces: what the kernel reported to the executor, what we asked of the cluster, and the result of
 * probes.
 */
import type { KernelReport } from '../../cell/server/boot-protocol.js';
import type { Fact, Isolation } from '../../protocol/index.js';
import { readKernel } from '../docker/container-facts.js';
import type { KubernetesOptions } from './kubernetes-options.js';
import { userOf } from './pod.js';
import { weaknessesOf } from './weak-template.js';

export function readPodIsolation(parts: {
  readonly options: KubernetesOptions;
  readonly kernel: KernelReport;
  /** We know that the cluster enforces a policy that denies everything. */
  readonly networkDenied: boolean;
}): Isolation {
  const { options, kernel, networkDenied } = parts;
  const { tier, isGvisor, essential } = readKernel(kernel);
  const { uid } = userOf(options);
  const isWeak = weaknessesOf(options).length > 0;
  return {
    tier,
    facts: [
      { code: 'kernel', enforced: isGvisor, values: {} },
      ...essential,
      { code: 'user', enforced: false, values: { uid, sharedWith: ['other pods that run as this user'] } },
      // A pod that keeps to the level "restricted" cannot have two users.
      { code: 'executor', enforced: false, values: {} },
      {
        code: 'network',
        enforced: networkDenied,
        values: {
          kind: networkDenied ? 'none' : 'engine',
          networks: networkDenied ? [] : ['of the cluster'],
          publishedPorts: 0,
        },
      },
      {
        code: 'files',
        enforced: !isWeak,
        values: { system: options.writableSystem ? 'copy' : 'read-only', writable: [] },
      },
      { code: 'workspace-size', enforced: false, values: {} },
      { code: 'hard-links', enforced: !isWeak, values: {} },
      // The seccomp profile of the runtime allows it.
      { code: 'set-id-files', enforced: false, values: {} },
      { code: 'devices', enforced: !isWeak && options.gpu === undefined, values: { gpus: gpusOf(options) } },
      ...limitFacts(options),
    ],
  };
}

function gpusOf({ gpu }: KubernetesOptions): string[] {
  return gpu === undefined ? [] : [`any ${gpu.count} of ${gpu.resource}`];
}

function limitFacts({ limits }: KubernetesOptions): Fact[] {
  const { memoryBytes, cpus, diskBytes } = limits;
  const whole = { scope: 'cell', by: 'engine' } as const;
  const nobody = { limit: null, scope: 'cell', by: 'nobody' } as const;
  const places = ['/tmp', '/var/tmp', 'the home directory', 'the workspace'];
  return [
    {
      code: 'memory',
      enforced: memoryBytes !== undefined,
      // The executor is within the limit, and where the node ends groups as a whole, so is every command.
      values: { limit: memoryBytes ?? null, ...whole, endsCell: true },
    },
    { code: 'processors', enforced: cpus !== undefined, values: { limit: cpus ?? null, ...whole } },
    // A setting of the node limits this, and nothing reports it to us.
    { code: 'processes', enforced: false, values: nobody },
    {
      code: 'scratch',
      enforced: diskBytes !== undefined,
      values: { limit: diskBytes ?? null, ...whole, endsCell: true, places },
    },
    { code: 'open-files', enforced: false, values: { ...nobody, scope: 'process' } },
    { code: 'inotify', enforced: false, values: { ...nobody, watches: null } },
    { code: 'timers', enforced: false, values: nobody },
    { code: 'message-queues', enforced: false, values: nobody },
    {
      code: 'shared-memory',
      enforced: memoryBytes !== undefined,
      values: { limit: null, scope: 'cell', by: 'memory' },
    },
  ];
}
