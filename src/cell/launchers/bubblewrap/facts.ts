/** What the kernel really enforces on a cell, read from its first process. */
import { readFileSync, readlinkSync } from 'node:fs';
import type { Isolation } from '../../../protocol/index.js';
import type { Enforcement, Limits } from '../limits/limits.js';

type Fact = Isolation['facts'][number];

const namespaces = ['user', 'mnt', 'pid', 'net', 'ipc', 'uts', 'cgroup'] as const;

export interface FactsOptions {
  /** The cell's first process, as this side numbers it. */
  readonly hostPid: number;
  readonly network: 'none' | 'host';
  readonly limits: Limits;
  readonly enforcement: Enforcement;
  readonly readWrite: readonly string[];
}

export function readIsolation(options: FactsOptions): Isolation {
  const status = readFileSync(`/proc/${options.hostPid}/status`, 'latin1');
  const essential = [namespaceFact(options), seccompFact(status), privilegeFact(status)];
  return {
    tier: essential.every(({ enforced }) => enforced) ? 'namespace' : 'none',
    facts: [
      ...essential,
      userFact(options.hostPid),
      networkFact(options),
      filesFact(options.readWrite),
      ...limitFacts(options),
    ],
  };
}

function namespaceFact({ hostPid, network }: FactsOptions): Fact {
  const own = namespaces.filter((name) => isSeparate(hostPid, name));
  const shared = namespaces.filter((name) => !own.includes(name));
  // Older kernels have no cgroup namespace; nothing of the hierarchy is mounted in the cell anyway.
  const needed = namespaces.filter((name) => name !== 'cgroup' && (name !== 'net' || network === 'none'));
  return {
    name: 'namespaces',
    enforced: needed.every((name) => own.includes(name)),
    detail: `Of its own: ${own.join(', ') || 'none'}.${shared.length > 0 ? ` Shared with this machine: ${shared.join(', ')}.` : ''}`,
  };
}

/** Those of this process, which stay the same. */
const ownNamespaces = new Map<string, string>();

function isSeparate(pid: number, name: string): boolean {
  try {
    const own = ownNamespaces.get(name) ?? readlinkSync(`/proc/self/ns/${name}`);
    ownNamespaces.set(name, own);
    return readlinkSync(`/proc/${pid}/ns/${name}`) !== own;
  } catch {
    return false;
  }
}

function seccompFact(status: string): Fact {
  const enforced = field(status, 'Seccomp') === '2';
  return {
    name: 'seccomp',
    enforced,
    detail: enforced ? 'A filter refuses system calls that a cell has no use for.' : 'No filter is in force.',
  };
}

function privilegeFact(status: string): Fact {
  const sets = ['CapPrm', 'CapEff', 'CapBnd', 'CapAmb'];
  const held = sets.filter((name) => !/^0+$/.test(field(status, name)));
  const locked = field(status, 'NoNewPrivs') === '1';
  return {
    name: 'privileges',
    enforced: held.length === 0 && locked,
    detail: `${held.length === 0 ? 'No capabilities' : `Capabilities in ${held.join(', ')}`}, no_new_privs ${locked ? 'set' : 'not set'}.`,
  };
}

function userFact(pid: number): Fact {
  const [inside = '?', outside = '?'] = readFileSync(`/proc/${pid}/uid_map`, 'latin1').trim().split(/\s+/);
  return {
    name: 'user',
    enforced: true,
    detail: `User ${inside} inside is user ${outside} of this machine, without its rights outside the cell.`,
  };
}

function networkFact({ hostPid, network }: FactsOptions): Fact {
  const enforced = network === 'none' && isSeparate(hostPid, 'net');
  return {
    name: 'network',
    enforced,
    detail: enforced ? 'None but its own loopback.' : 'That of this machine, its loopback included.',
  };
}

function filesFact(readWrite: readonly string[]): Fact {
  const also = readWrite.length > 0 ? `, ${readWrite.join(', ')}` : '';
  return {
    name: 'files',
    enforced: true,
    detail: `The system is read-only. Of this machine only the workspace${also} can be written, and its size is not limited.`,
  };
}

const limitNames: Readonly<Record<keyof Limits, string>> = {
  memoryBytes: 'memory',
  cpus: 'processors',
  pids: 'processes',
  diskBytes: 'scratch space',
  openFiles: 'open files',
};

function limitFacts({ limits, enforcement }: FactsOptions): Fact[] {
  return (Object.keys(limitNames) as (keyof Limits)[]).map((limit) => {
    const value = limits[limit];
    const name = `limit: ${limitNames[limit]}`;
    if (value === undefined) return { name, enforced: false, detail: 'Not limited.' };
    const how = howLimited(limit, enforcement);
    return {
      name,
      enforced: how !== undefined,
      detail: `${value}, ${how ?? 'not enforced: no control group can be made here'}.`,
    };
  });
}

function howLimited(limit: keyof Limits, { kind, whole }: Enforcement): string | undefined {
  if (whole.includes(limit))
    return `for the cell as a whole, by ${kind === 'cgroup2' ? 'cgroup v2' : 'cgroup v1'}`;
  switch (limit) {
    case 'memoryBytes':
      return 'for each process by the kernel, and for their sum by a watch that looks ten times a second';
    case 'pids':
      // The kernel does not count the processes of the machine's own root.
      return process.getuid?.() === 0 ? undefined : 'by a resource limit of the cell';
    case 'diskBytes':
      return 'for each of /tmp, /dev/shm and the home directory';
    case 'openFiles':
      return 'for each process';
    default:
      return undefined;
  }
}

function field(status: string, name: string): string {
  return new RegExp(`^${name}:\\s*(\\S+)$`, 'm').exec(status)?.[1] ?? '';
}
