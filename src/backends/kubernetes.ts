/** Runs everything in a pod of a Kubernetes cluster. The executor is inside, and a forwarded port leads to it. */
import { defineBackend, type Probe } from './backend.js';
import { attachPod, listPods } from './kubernetes/attach-pod.js';
import { openCluster } from './kubernetes/cluster-client.js';
import { kubernetesOptions } from './kubernetes/kubernetes-options.js';
import { startKubernetes } from './kubernetes/start-kubernetes.js';

export default defineBackend({
  type: 'kubernetes',
  options: kubernetesOptions,

  async probe(): Promise<Probe> {
    try {
      const client = openCluster({});
      const { gitVersion } = await client.ask<{ gitVersion: string }>('GET', '/version');
      return {
        available: true,
        tier: 'container',
        summary: `Kubernetes ${gitVersion} at ${client.where}: pods with namespaces, a seccomp filter and limits of their own.`,
        advice: [],
      };
    } catch (error) {
      return { available: false, tier: 'none', summary: (error as Error).message, advice: [] };
    }
  },

  start: startKubernetes,
  place: ['kubeconfig', 'context', 'namespace'],
  attach: attachPod,
  list: listPods,
});
