/** Ends that one healthy node does not show, on objects as a cluster writes them. */
import { expect, test } from 'vitest';
import { endOf } from '../../../src/backends/kubernetes/await-pod.js';
import type { ContainerState, Pod } from '../../../src/backends/kubernetes/objects.js';

const pod = (
  status: Omit<NonNullable<Pod['status']>, 'containerStatuses'>,
  state: ContainerState = { running: {} },
  metadata: Partial<Pod['metadata']> = {},
): Pod => ({
  metadata: { name: 'workcell-1', ...metadata },
  status: { ...status, containerStatuses: [{ name: 'cell', state }] },
});

const disrupted = (reason: string) => ({
  type: 'DisruptionTarget',
  status: 'True',
  reason,
  message: 'why',
});

test.each([
  ['runs', pod({ phase: 'Running' }), undefined],
  ['waits', { metadata: { name: 'workcell-1' } }, undefined],
  [
    'has lost its container and is not over yet',
    pod({ phase: 'Running' }, { terminated: { exitCode: 0, reason: 'Completed' } }),
    undefined,
  ],
  [
    'has lost its container, and that of its template still runs',
    {
      metadata: { name: 'workcell-1' },
      status: {
        phase: 'Running',
        containerStatuses: [
          { name: 'cell', state: { terminated: { exitCode: 137, reason: 'OOMKilled' } } },
          { name: 'more', state: { running: {} } },
        ],
      },
    },
    /out of memory/,
  ],
  [
    'was evicted',
    pod(
      {
        phase: 'Failed',
        reason: 'Evicted',
        message: 'Container cell exceeded its local ephemeral storage limit',
      },
      { terminated: { exitCode: 0, reason: 'Completed' } },
    ),
    /evicted the pod: .*ephemeral storage/,
  ],
  [
    'ran out of memory',
    pod({ phase: 'Failed' }, { terminated: { exitCode: 137, reason: 'OOMKilled' } }),
    /out of memory.*limits\.memoryBytes/,
  ],
  [
    'is on a lost node',
    pod({ phase: 'Failed', reason: 'NodeLost', message: 'node is down' }),
    /NodeLost.*node is down/,
  ],
  [
    'was killed',
    pod({ phase: 'Failed' }, { terminated: { exitCode: 137, reason: 'Error' } }),
    /it was killed \(Error\)/,
  ],
  ['ended', pod({ phase: 'Succeeded' }, { terminated: { exitCode: 0, reason: 'Completed' } }), /code 0/],
  [
    'is being deleted',
    pod({ phase: 'Running' }, {}, { deletionTimestamp: '2026-01-01T00:00:00Z' }),
    /deletes/,
  ],
  ['is gone', undefined, /deleted/],
  [
    'makes room for another',
    pod(
      { phase: 'Running', conditions: [disrupted('PreemptionByScheduler')] },
      {},
      { deletionTimestamp: '2026-01-01T00:00:00Z' },
    ),
    /higher priority \(PreemptionByScheduler\): why/,
  ],
  [
    'was on a node that went away',
    pod({ phase: 'Failed', conditions: [disrupted('DeletionByTaintManager')] }),
    /node of the pod went away or takes no more pods/,
  ],
  [
    'was on a node that somebody removed',
    pod({ phase: 'Failed', conditions: [disrupted('DeletionByPodGC')] }),
    /node of the pod is gone/,
  ],
  [
    'would have been taken away',
    pod({ phase: 'Running', conditions: [{ ...disrupted('PreemptionByScheduler'), status: 'False' }] }),
    undefined,
  ],
])('a pod that %s', (_what, given, end) => {
  if (end === undefined) expect(endOf(given)).toBeUndefined();
  else expect(endOf(given)).toMatch(end);
});
