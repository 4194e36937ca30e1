/** Runs everything in a pod of a Kubernetes cluster. The executor is inside, and a forwarded port leads to it. */
import { defineBackend } from './backend.js';
import { attachPod, listPods, podStats } from './kubernetes/attach-pod.js';
import { kubernetesOptions } from './kubernetes/kubernetes-options.js';
import { probeCluster } from './kubernetes/probe-cluster.js';
import { startKubernetes } from './kubernetes/start-kubernetes.js';

export default defineBackend({
  type: 'kubernetes',
  options: kubernetesOptions,
  probe: probeCluster,
  start: startKubernetes,
  place: ['kubeconfig', 'context', 'namespace'],
  attach: attachPod,
  list: listPods,
  stats: podStats,
});
