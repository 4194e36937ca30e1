/** Limits what one cell may use: with control groups where we can write them, else with limits on each process. */
import { availableParallelism } from 'node:os';
import { findHostProgram } from '../../../base/find-program.js';
import { createControlGroup } from './control-group.js';
import { type NamespaceLimits, type NamespaceOptions, namespaceLimits } from './namespace-limits.js';
import { processLimits } from './process-limits.js';
import { processorList } from './processors.js';

export interface Limits {
  readonly memoryBytes?: number | undefined;
  /** How many processors' worth of time, which can be a fraction. */
  readonly cpus?: number | undefined;
  /** Processes and threads together. */
  readonly pids?: number | undefined;
  /** Size of each of the cell's memory file systems. */
  readonly diskBytes?: number | undefined;
  /** Descriptors of one process. */
  readonly openFiles?: number | undefined;
}

/** What a watch looks at and acts on. */
export interface Watched {
  list(): readonly { readonly pid: number; readonly memoryBytes: number }[];
  /** Memory in use; shared memory counts in part. */
  proportionalBytes(pid: number): number;
  signal(pids: readonly number[], signal: NodeJS.Signals): void;
}

export interface Enforcement {
  readonly kind: 'cgroup2' | 'cgroup1' | 'process';
  /** Which of the limits hold for the cell as a whole. */
  readonly whole: readonly (keyof Limits)[];
  /** Limits on resources that the kernel counts per user. */
  readonly namespace: NamespaceLimits;
  /** Puts a process, and all that it starts from then on, under the limits. */
  enter(pid: number): Promise<void>;
  /** Words to put before the command to bound it. */
  readonly prefix: readonly string[];
  /** Shell statements inside, before anything else. */
  readonly setup: string;
  oomKills(): number;
  /** Begins to watch what the kernel does not limit. */
  watch(processes: Watched): void;
  /** Removes the groups; every process must have ended. */
  release(): Promise<void>;
}

/**
 * `mark`: path of a file that does not exist yet, by which this side sees which values the kernel took. The prefix
 * gives the command the namespaces that the options ask for.
 */
export function applyLimits(limits: Limits, mark: string, options: NamespaceOptions = {}): Enforcement {
  const group = createControlGroup(limits);
  const whole = group?.whole ?? [];
  const own = processLimits(limits, whole);
  const namespace = namespaceLimits(limits, whole, mark, options);
  const setup = ['ulimit -c 0', ...namespace.setup, ...own.setup].join('\n');
  const prefix = [...affinity(limits.cpus), ...namespace.prefix];
  if (group === undefined) {
    return {
      ...own,
      kind: 'process',
      whole,
      namespace,
      enter: async () => {},
      prefix,
      setup,
      release: async () => own.stop(),
    };
  }
  return {
    kind: group.version === 2 ? 'cgroup2' : 'cgroup1',
    whole,
    namespace,
    enter: group.enter,
    prefix,
    setup,
    oomKills: () => group.oomKills() + own.oomKills(),
    watch: own.watch,
    async release() {
      own.stop();
      await group.remove();
    },
  };
}

/** Programs ask how many processors they may run on to decide how many threads to start. */
function affinity(cpus: number | undefined): string[] {
  if (cpus === undefined || Math.ceil(cpus) >= availableParallelism()) return [];
  const taskset = findHostProgram('taskset');
  return taskset === undefined ? [] : [taskset, '-c', processorList(Math.ceil(cpus))];
}
