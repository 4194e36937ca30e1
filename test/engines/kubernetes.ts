/** The Kubernetes cluster that all tests of a run share. */
import type { KubernetesCluster } from '../../scripts/engines/kubernetes.js';
import { askForEngine } from './ask.js';

export { clusterImages } from '../../scripts/engines/kubernetes.js';

/** The cluster of this test run. The first who asks waits for its start; it ends with the run. */
export function kubernetesCluster(): Promise<KubernetesCluster> {
  return askForEngine<KubernetesCluster>('kubernetes');
}
