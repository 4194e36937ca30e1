/** What a container enforces: what the kernel reported to the executor, and what we asked of the engine. */
import type { KernelReport } from '../../cell/server/boot-protocol.js';
import type { Fact, Isolation, IsolationTier } from '../../protocol/index.js';
import { type DockerOptions, userLimits, withDefaults } from './docker-options.js';

/** How gVisor's own kernel names itself. */
const gvisorVersion = /^Linux version 4\.4\.0\b.*2016$/;

/** SETGID and SETUID. */
const expectedCapabilities = 0xc0n;

export interface FactsOptions {
  readonly options: DockerOptions;
  /** The user of the commands, and whether only this cell uses it. */
  readonly user: { readonly uid: number; readonly isOwn: boolean };
  /** The executor runs as another user. */
  readonly isApart: boolean;
  readonly setgidFiles: boolean;
  readonly kernel: KernelReport;
}

export function readIsolation(parts: FactsOptions): Isolation {
  const { options, user, kernel } = parts;
  const { tier, isGvisor, essential } = readKernel(kernel);
  return {
    tier,
    facts: [
      { code: 'kernel', enforced: isGvisor, values: {} },
      ...essential,
      userFact(user),
      { code: 'executor', enforced: parts.isApart, values: {} },
      networkFact(options),
      filesFact(options),
      { code: 'workspace-size', enforced: false, values: {} },
      { code: 'hard-links', enforced: isFresh(options), values: {} },
      // gVisor has no filter before it.
      { code: 'set-id-files', enforced: !isGvisor && !parts.setgidFiles, values: {} },
      deviceFact(options),
      ...limitFacts(options, isGvisor),
      ...userLimitFacts(user.isOwn, isGvisor),
    ],
  };
}

/** What the kernel reports of any container. Without these facts there is no isolation to speak of. */
export function readKernel(kernel: KernelReport): {
  tier: IsolationTier;
  isGvisor: boolean;
  essential: Fact[];
} {
  const isGvisor = gvisorVersion.test(kernel.version);
  const essential = [privilegeFact(kernel, isGvisor), ...(isGvisor ? [] : [seccompFact(kernel)])];
  const held = essential.every(({ enforced }) => enforced);
  return { tier: held ? (isGvisor ? 'gvisor' : 'container') : 'none', isGvisor, essential };
}

function seccompFact({ seccomp }: KernelReport): Fact {
  return { code: 'seccomp', enforced: seccomp, values: {} };
}

function privilegeFact({ capabilities, noNewPrivileges }: KernelReport, isGvisor: boolean): Fact {
  const few = (BigInt(`0x${capabilities || 'f'}`) & ~expectedCapabilities) === 0n;
  // gVisor keeps to the setting and does not show it.
  const locked = noNewPrivileges || isGvisor;
  return {
    code: 'privileges',
    enforced: few && locked,
    values: { capabilities: !few, noNewPrivileges: locked },
  };
}

function userFact({ uid, isOwn }: FactsOptions['user']): Fact {
  const sharedWith = isOwn ? [] : ['the owner of the workspace', 'other cells that run as this user'];
  return { code: 'user', enforced: isOwn, values: { uid, sharedWith } };
}

function networkFact({ network, networks, ports, rules }: DockerOptions): Fact {
  if (rules !== undefined)
    return { code: 'network', enforced: true, values: { kind: 'rules', networks: [], publishedPorts: 0 } };
  const isNone = network === 'none' && networks.length === 0;
  return {
    code: 'network',
    enforced: isNone,
    values: {
      kind: isNone ? 'none' : network === 'host' ? 'machine' : 'engine',
      networks: isNone ? [] : [network, ...networks],
      publishedPorts: ports.length,
    },
  };
}

function filesFact({ writableSystem, volumes }: DockerOptions): Fact {
  return {
    code: 'files',
    enforced: true,
    values: { system: writableSystem ? 'copy' : 'read-only', writable: [...volumes] },
  };
}

function deviceFact({ gpu }: DockerOptions): Fact {
  if (gpu === false) return { code: 'devices', enforced: true, values: { gpus: [] } };
  const ids = gpu === true ? ['all'] : [`any ${gpu}`];
  return {
    code: 'devices',
    enforced: false,
    values: { gpus: typeof gpu === 'object' ? gpu.map(String) : ids },
  };
}

/** It contains nothing of the machine from before. */
function isFresh({ workspace, volumes }: DockerOptions): boolean {
  return workspace === undefined && volumes.length === 0;
}

function limitFacts(options: DockerOptions, isGvisor: boolean): Fact[] {
  const { memoryBytes, cpus, pids, diskBytes, openFiles } = withDefaults(options.limits);
  const whole = { scope: 'cell', by: 'engine' } as const;
  // gVisor's own kernel counts, too, and the cell ends with it.
  const shared = { ...whole, ...(isGvisor && { endsCell: true }) };
  const places = ['/tmp', '/var/tmp', '/dev/shm', 'the home directory'];
  return [
    { code: 'memory', enforced: true, values: { limit: memoryBytes, ...shared } },
    { code: 'processors', enforced: cpus !== undefined, values: { limit: cpus ?? null, ...whole } },
    { code: 'processes', enforced: true, values: { limit: pids, ...shared } },
    { code: 'scratch', enforced: true, values: { limit: diskBytes, scope: 'place', by: 'mount', places } },
    {
      code: 'open-files',
      enforced: openFiles !== undefined,
      values: { limit: openFiles ?? null, scope: 'process', by: 'rlimit' },
    },
  ];
}

/**
 * Resources that the kernel counts per user: a container has no user namespace, so other containers with the same
 * user count, too.
 */
function userLimitFacts(isOwn: boolean, isGvisor: boolean): Fact[] {
  const { timers, queueBytes } = userLimits;
  const scope = isOwn || isGvisor ? 'cell' : 'user';
  const memory = { limit: null, scope: 'cell', by: 'memory' } as const;
  return [
    {
      code: 'inotify',
      enforced: isOwn || isGvisor,
      values: { limit: null, watches: null, scope, by: isOwn || isGvisor ? 'user' : 'nobody' },
    },
    // gVisor's own kernel does not count them, but they are its memory.
    { code: 'timers', enforced: true, values: isGvisor ? memory : { limit: timers, scope, by: 'rlimit' } },
    {
      code: 'message-queues',
      enforced: true,
      values: isGvisor ? memory : { limit: queueBytes, scope, by: 'rlimit' },
    },
    // Segments count as memory of the cell.
    { code: 'shared-memory', enforced: true, values: memory },
  ];
}
