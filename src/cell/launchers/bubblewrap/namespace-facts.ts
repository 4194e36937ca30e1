/** What the kernel really enforces on a cell, read from its first process. */
import { readFileSync, readlinkSync } from 'node:fs';
import type { Fact, Isolation } from '../../../protocol/index.js';
import type { Enforcement, Limits } from '../limits/apply-limits.js';
import { limitFacts } from '../limits/limit-facts.js';
import type { CellNetworkKind } from './bubblewrap-arguments.js';

const namespaces = ['user', 'mnt', 'pid', 'net', 'ipc', 'uts', 'cgroup'] as const;

export interface FactsOptions {
  /** The cell's first process, as this side numbers it. */
  readonly hostPid: number;
  readonly network: CellNetworkKind;
  readonly limits: Limits;
  readonly enforcement: Enforcement;
  readonly readWrite: readonly string[];
  /** We created the workspace for this cell. */
  readonly isTemporary: boolean;
  /** What the workspace takes is in a file system of a given size. */
  readonly isLimited: boolean;
  /** The filter allows set-group-id files. */
  readonly setgidFiles: boolean;
  /** Ids of the GPUs that the cell has. */
  readonly gpus: readonly string[];
}

export function readIsolation(options: FactsOptions): Isolation {
  const { hostPid, readWrite, isTemporary } = options;
  const status = readFileSync(`/proc/${hostPid}/status`, 'latin1');
  const essential = [namespaceFact(options), seccompFact(status), privilegeFact(status)];
  return {
    tier: essential.every(({ enforced }) => enforced) ? 'namespace' : 'none',
    facts: [
      ...essential,
      userFact(hostPid),
      // It is outside of the namespaces, in the process of the owner.
      { code: 'executor', enforced: true, values: {} },
      networkFact(options),
      { code: 'files', enforced: true, values: { system: 'read-only', writable: [...readWrite] } },
      { code: 'workspace-size', enforced: options.isLimited, values: {} },
      { code: 'hard-links', enforced: isTemporary && readWrite.length === 0, values: {} },
      { code: 'set-id-files', enforced: !options.setgidFiles, values: {} },
      { code: 'devices', enforced: options.gpus.length === 0, values: { gpus: [...options.gpus] } },
      ...limitFacts(options.limits, options.enforcement),
    ],
  };
}

function namespaceFact({ hostPid, network }: FactsOptions): Fact {
  const own = namespaces.filter((name) => isSeparate(hostPid, name));
  const shared = namespaces.filter((name) => !own.includes(name));
  // Older kernels have no cgroup namespace; the cell sees nothing of the hierarchy anyway.
  const needed = namespaces.filter((name) => name !== 'cgroup' && (name !== 'net' || network !== 'host'));
  return {
    code: 'namespaces',
    enforced: needed.every((name) => own.includes(name)),
    values: { own, shared },
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
  return { code: 'seccomp', enforced: field(status, 'Seccomp') === '2', values: {} };
}

function privilegeFact(status: string): Fact {
  const sets = ['CapPrm', 'CapEff', 'CapBnd', 'CapAmb'];
  const capabilities = sets.some((name) => !/^0+$/.test(field(status, name)));
  const noNewPrivileges = field(status, 'NoNewPrivs') === '1';
  return {
    code: 'privileges',
    enforced: !capabilities && noNewPrivileges,
    values: { capabilities, noNewPrivileges },
  };
}

/** Both sides work on the same files, so the cell's user is the caller's own. */
function userFact(pid: number): Fact {
  const [, uid = '0'] = readFileSync(`/proc/${pid}/uid_map`, 'latin1').trim().split(/\s+/);
  return {
    code: 'user',
    enforced: false,
    values: { uid: Number(uid), sharedWith: ['the caller', 'other cells of the caller'] },
  };
}

function networkFact({ hostPid, network }: FactsOptions): Fact {
  const enforced = network !== 'host' && isSeparate(hostPid, 'net');
  const kind = network === 'egress' ? 'rules' : 'none';
  return {
    code: 'network',
    enforced,
    values: { kind: enforced ? kind : 'machine', networks: [], publishedPorts: 0 },
  };
}

function field(status: string, name: string): string {
  return new RegExp(`^${name}:\\s*(\\S+)$`, 'm').exec(status)?.[1] ?? '';
}
