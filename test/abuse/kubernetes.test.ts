import { describe, test } from 'vitest';
import { attackLimits } from '../../src/testing/abuse/attack-limits.js';
import { abuseCases, runCase, type Verdict } from '../../src/testing/abuse/index.js';
import { clusterImages, kubernetesCluster } from '../engines/kubernetes.js';
import { expectHeld } from './expect-held.js';
import { expectOnPage } from './scorecard.js';

const { kubeconfig } = await kubernetesCluster();
const found = new Map<string, Verdict>();

/**
 * What the cluster and its node decide. The executor and this side are the same in any container. What attacks the first
 * process of the cell is left out: commands run as its user, may stop it, and the attack then takes all the time it has.
 */
const ofThePlace =
  /^([1-6]|15|2[567]|3[046789]|4[238]|9[6-9]|100)\.|^10\.kill-all$|^24\.proc-inside$|^public\.(empty|leaked|own)/;

/** They take long, and others show the same. */
const slow = /^(1\.process-limit|3\.inodes|43\.ranges)$/;

const measured = abuseCases.filter(({ id }) => ofThePlace.test(id) && !slow.test(id));

/** What a pod does not promise, besides what its facts say. */
const evicted = 'the node looks every ten seconds what a pod has written, and ends it as a whole';
const oneUser = 'commands run as the user of the executor, and can end it';
const sharedUser = 'the kernel counts them by user, and pods that run as the same user share the number';
const profile = 'the seccomp profile of the cluster’s runtime allows some of them';
const noPolicies = 'the network of the test’s cluster knows no policies, and the fact says so';
const gaps: Readonly<Record<string, string>> = {
  '2.tmpfs': evicted,
  '2.page-cache': 'files of a pod may be in the memory of its node, and the cell ends when its own is full',
  '3.disk-fill': evicted,
  '3.workspace': evicted,
  '5.descriptors': 'the number of descriptors is not limited here',
  '10.kill-all': oneUser,
  '15.nproc': 'a pod sees all processors of its node, whatever time it gets of them',
  '27.overlay': profile,
  '34.sockets': profile,
  '34.system-calls': profile,
  '37.control-sockets': 'a pod has variables with the address of the API server, and no token for it',
  '42.metadata': noPolicies,
  '43.loopback': noPolicies,
  '48.no-route': noPolicies,
  'public.empty-allow-list': noPolicies,
  '96.inotify': sharedUser,
  '97.timers': sharedUser,
  '98.message-queues': sharedUser,
};

const { memoryBytes, cpus, diskBytes } = attackLimits;
const pod = {
  kubeconfig,
  image: clusterImages.tools,
  executorImage: 'none',
  imagePullPolicy: 'Never',
  pool: { size: 2 },
  // The others are settings of the node.
  limits: { memoryBytes, cpus, diskBytes },
};

describe('in a pod', () => {
  for (const abuse of measured) {
    test(`${abuse.id}: ${abuse.title}`, async () => {
      const unclaimed: typeof abuse.unclaimed = (isolation, tools) =>
        gaps[abuse.id] ?? abuse.unclaimed?.(isolation, tools);
      const verdict = await runCase({ ...abuse, unclaimed }, 'kubernetes', pod);
      found.set(abuse.id, verdict);
      expectHeld(verdict);
    });
  }

  test('docs/reference/scorecard.md says what was found', () => expectOnPage({ kubernetes: found }));
});
