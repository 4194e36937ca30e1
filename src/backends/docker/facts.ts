/** What is enforced on a container: what the kernel told the executor, and what the engine was asked for. */
import type { KernelReport } from '../../cell/server/cell.js';
import type { Isolation } from '../../protocol/index.js';
import { type DockerOptions, withDefaults } from './options.js';

type Fact = Isolation['facts'][number];

/** How gVisor's own kernel names itself. */
const gvisorVersion = /^Linux version 4\.4\.0\b.*2016$/;

/** SETGID and SETUID. */
const expectedCapabilities = 0xc0n;

export function readIsolation(options: DockerOptions, user: number, kernel: KernelReport): Isolation {
  const isGvisor = gvisorVersion.test(kernel.version);
  const essential = [privilegeFact(kernel, isGvisor), ...(isGvisor ? [] : [seccompFact(kernel)])];
  const held = essential.every(({ enforced }) => enforced);
  return {
    tier: held ? (isGvisor ? 'gvisor' : 'container') : 'none',
    facts: [
      {
        name: 'kernel',
        enforced: isGvisor,
        detail: isGvisor
          ? 'Its own: gVisor answers its system calls.'
          : 'That of the machine, with namespaces of its own.',
      },
      ...essential,
      userFact(user),
      networkFact(options),
      filesFact(options),
      ...limitFacts(options, isGvisor),
    ],
  };
}

function seccompFact({ seccomp }: KernelReport): Fact {
  return {
    name: 'seccomp',
    enforced: seccomp,
    detail: seccomp
      ? 'A filter refuses system calls that commands have no use for.'
      : 'No filter is in force: the engine runs without one.',
  };
}

function privilegeFact({ capabilities, noNewPrivileges }: KernelReport, isGvisor: boolean): Fact {
  const few = (BigInt(`0x${capabilities || 'f'}`) & ~expectedCapabilities) === 0n;
  // gVisor keeps to the setting and does not show it.
  const locked = noNewPrivileges || isGvisor;
  return {
    name: 'privileges',
    enforced: few && locked,
    detail: `Commands have no capabilities${few ? ', and there are none to gain' : ''}; no_new_privs ${locked ? 'set' : 'not set'}.`,
  };
}

function userFact(user: number): Fact {
  return {
    name: 'user',
    enforced: user !== 0,
    detail:
      user === 0
        ? 'Commands run as root without capabilities, because the workspace is his, and so does the executor, which they could end.'
        : `Commands run as user ${user}, the executor as another one that they cannot signal or look into.`,
  };
}

function networkFact({ network, networks, ports }: DockerOptions): Fact {
  const enforced = network === 'none' && networks.length === 0;
  const published =
    ports.length === 0 ? '' : ` ${ports.length} of its ports are open on this machine's loopback.`;
  return {
    name: 'network',
    enforced,
    detail: enforced
      ? 'None but its own loopback.'
      : `${network === 'host' ? 'That of the machine, its loopback included.' : `The networks ${[network, ...networks].join(', ')} of the engine, and what they lead to.`}${published}`,
  };
}

function filesFact({ writableSystem, volumes }: DockerOptions): Fact {
  const also = volumes.length > 0 ? ` Also mounted: ${volumes.join(', ')}.` : '';
  return {
    name: 'files',
    enforced: true,
    detail: `The system is ${writableSystem ? "the image's own copy" : 'read-only'}. Of this machine only the workspace can be written, and its size is not limited.${also}`,
  };
}

function limitFacts(options: DockerOptions, isGvisor: boolean): Fact[] {
  const { memoryBytes, cpus, pids, diskBytes, openFiles } = withDefaults(options.limits);
  const whole = 'for the cell as a whole, by the engine';
  const shared = isGvisor ? `${whole}; gVisor's own kernel counts, too, and the cell ends with it` : whole;
  return [
    limitFact('memory', memoryBytes, shared),
    limitFact('processors', cpus, whole),
    limitFact('processes', pids, isGvisor ? `about as many, ${shared}` : shared),
    limitFact('scratch space', diskBytes, 'for each of /tmp, /var/tmp, /dev/shm and the home directory'),
    limitFact('open files', openFiles, 'for each process'),
  ];
}

function limitFact(limit: string, value: number | undefined, how: string): Fact {
  const name = `limit: ${limit}`;
  if (value === undefined) return { name, enforced: false, detail: 'Not limited.' };
  return { name, enforced: true, detail: `${value}, ${how}.` };
}
