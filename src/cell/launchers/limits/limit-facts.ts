/** How the cell enforces each limit, as facts. */
import type { Fact } from '../../../protocol/index.js';
import type { Enforcement, Limits } from './apply-limits.js';

const scratchPlaces = ['/tmp', '/dev/shm', '/home/agent'];

export function limitFacts(limits: Limits, enforcement: Enforcement): Fact[] {
  const { memoryBytes = null, cpus = null, pids = null, diskBytes = null, openFiles = null } = limits;
  const whole = (name: keyof Limits) => wholeCell(name, enforcement);
  return [
    memoryBytes !== null && whole('memoryBytes') === undefined
      ? { code: 'memory', enforced: false, values: { limit: memoryBytes, scope: 'process', by: 'watch' } }
      : { code: 'memory', ...asFact(memoryBytes, whole('memoryBytes')) },
    { code: 'processors', ...asFact(cpus, whole('cpus')) },
    { code: 'processes', ...asFact(pids, whole('pids') ?? ownProcesses()) },
    withPlaces(diskBytes),
    { code: 'open-files', ...asFact(openFiles, { scope: 'process', by: 'rlimit' }) },
    ...namespaceFacts(enforcement),
  ];
}

type How = Pick<Extract<Fact, { code: 'memory' }>['values'], 'scope' | 'by'>;

function asFact(limit: number | null, how: How | undefined) {
  return {
    enforced: limit !== null && how !== undefined,
    values: { limit, ...(how ?? ({ scope: 'cell', by: 'nobody' } as const)) },
  };
}

function wholeCell(name: keyof Limits, { kind, whole }: Enforcement): How | undefined {
  if (!whole.includes(name) || kind === 'process') return undefined;
  return { scope: 'cell', by: kind };
}

/** Counted by the kernel for the user namespace of the cell, unless the user is the machine's own root. */
function ownProcesses(): How | undefined {
  return process.getuid?.() === 0 ? undefined : { scope: 'cell', by: 'rlimit' };
}

function withPlaces(limit: number | null): Fact {
  const { enforced, values } = asFact(limit, { scope: 'place', by: 'mount' });
  return { code: 'scratch', enforced, values: { ...values, places: scratchPlaces } };
}

function namespaceFacts({ namespace }: Enforcement): Fact[] {
  const { timers, queueBytes, inotifyInstances, inotifyWatches, segmentBytes } = namespace.limits;
  const how: How | undefined = namespace.isSet() ? { scope: 'cell', by: 'namespace' } : undefined;
  const inotify = asFact(inotifyInstances, how);
  return [
    { code: 'inotify', ...inotify, values: { ...inotify.values, watches: inotifyWatches } },
    { code: 'timers', ...asFact(timers, { scope: 'cell', by: 'rlimit' }) },
    { code: 'message-queues', ...asFact(queueBytes, { scope: 'cell', by: 'rlimit' }) },
    { code: 'shared-memory', ...asFact(segmentBytes, how) },
  ];
}
