import { linuxAdvice } from '../../../base/linux-only.js';

/**
 * Why this machine cannot make the executor of a container, a pod or a vendor's sandbox, in the form of a probe; undefined
 * when it can. The Node and the terminal addon of the executor are those of this machine.
 */
export function bundleObstacle() {
  const { platform } = process;
  if (platform === 'linux') return undefined;
  return {
    available: false,
    tier: 'none' as const,
    summary: `Such a cell takes its Node and its executor from this machine, so that has to run Linux, and this is ${platform}.`,
    advice: [linuxAdvice],
  };
}
