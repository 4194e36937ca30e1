/** Limits on each process, and a watch over their sum where no control group bounds it. */
import type { Limits, Watched } from './apply-limits.js';

/** How often to add up the memory. A single process hits its own limit at once. */
const watchMs = 100;

export interface ProcessLimits {
  readonly setup: readonly string[];
  oomKills(): number;
  watch(processes: Watched): void;
  stop(): void;
}

/** `whole`: the limits that a control group enforces already. */
export function processLimits(limits: Limits, whole: readonly (keyof Limits)[]): ProcessLimits {
  const { memoryBytes, pids, openFiles } = limits;
  const watchMemory = memoryBytes !== undefined && !whole.includes('memoryBytes');
  let timer: NodeJS.Timeout | undefined;
  let kills = 0;

  /** Does what the kernel would: kills the largest process. */
  function look(processes: Watched, limitBytes: number) {
    const resident = processes.list();
    if (resident.reduce((total, entry) => total + entry.memoryBytes, 0) <= limitBytes) return;
    // The resident sum counts shared pages once for each process; look up the costlier figure only beyond it.
    const all = resident
      .map(({ pid }) => ({ pid, bytes: processes.proportionalBytes(pid) }))
      .sort((a, b) => b.bytes - a.bytes);
    const [largest] = all;
    if (largest === undefined || all.reduce((total, { bytes }) => total + bytes, 0) <= limitBytes) return;
    kills++;
    processes.signal([largest.pid], 'SIGKILL');
  }

  return {
    setup: [
      ...(openFiles === undefined ? [] : [`ulimit -n ${openFiles}`]),
      ...(watchMemory ? [`ulimit -d ${Math.floor(memoryBytes / 1024)}`] : []),
      // Set inside, where only the cell's own processes count against it.
      ...(pids === undefined || whole.includes('pids') ? [] : [`ulimit -u ${pids}`]),
    ],
    oomKills: () => kills,
    watch(processes) {
      if (!watchMemory) return;
      timer = setInterval(() => look(processes, memoryBytes), watchMs);
      timer.unref();
    },
    stop: () => clearInterval(timer),
  };
}
