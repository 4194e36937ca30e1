/**
 * A container whose only way out is a gateway of this process. It has no network of its own; the gateway listens in its
 * network namespace, as it does in that of a sandbox.
 */
import { execFile } from 'node:child_process';
import { closeSync, fstatSync, openSync, statSync } from 'node:fs';
import { promisify } from 'node:util';
import { findHostProgram } from '../../base/find-program.js';
import { type Egress, openEgress } from '../../cell/launchers/bubblewrap/egress/egress.js';
import { type CellNetwork, type NetworkSecret, WorkcellError } from '../../protocol/index.js';
import type { Engine } from '../engines/docker-engine.js';
import { openGateway } from '../open-gateway.js';
import type { DockerOptions } from './docker-options.js';

export interface ContainerNetwork {
  readonly gateway: CellNetwork & Egress;
  /** Files that the cell reads at another place than this machine. */
  readonly files: readonly { readonly source: string; readonly inside: string }[];
  /** For what its programs trust, below the options; and for placeholders, above them. */
  readonly variables: Readonly<Record<string, string>>;
  readonly placeholders: Readonly<Record<string, string>>;
  /** Listens in a container whose executor does, at a socket in this directory. Before it runs any command. */
  open(wire: string): Promise<void>;
  close(): void;
}

/** Undefined without rules. */
export async function prepareNetwork(
  options: DockerOptions,
  { host }: Engine,
  secrets: readonly NetworkSecret[],
): Promise<ContainerNetwork | undefined> {
  const { rules, workspace } = options;
  if (rules === undefined) return undefined;
  const obstacle = obstacleTo(options, host);
  if (obstacle !== undefined)
    throw new WorkcellError(
      'capability-unsupported',
      `A container cannot have network rules here: ${obstacle}. Use backend "sandbox", or network: "none".`,
      { details: { backend: 'docker', capability: 'network' } },
    );
  const gateway = await openGateway(rules, { workspace, secrets });
  const { opened } = gateway;
  const trust = opened && (await import('../trust-files.js')).layTrust(opened, { isOwnSystem: true });
  let closeEgress = () => {};
  return {
    gateway,
    files: trust?.files ?? [],
    variables: trust?.variables ?? {},
    placeholders: opened?.placeholders ?? {},
    async open(wire) {
      const namespace = await enterable(wire);
      const stop = await openEgress(`/proc/${process.pid}/fd/${namespace}`, gateway).catch(
        (error: unknown) => {
          closeSync(namespace);
          throw error;
        },
      );
      closeEgress = () => {
        stop();
        closeSync(namespace);
      };
    },
    close() {
      closeEgress();
      closeEgress = () => {};
      gateway.close();
      trust?.remove();
    },
  };
}

/**
 * A descriptor of the network namespace that the executor is in. Who listens at its socket tells, because an engine may
 * number processes otherwise than this machine.
 */
async function enterable(wire: string): Promise<number> {
  const perl = findHostProgram('perl') ?? '';
  const { stdout } = await promisify(execFile)(perl, ['-e', whoListens, wire], { timeout: 10_000 });
  const path = `/proc/${Number(stdout)}/ns/net`;
  const namespace = openSync(path, 'r');
  if (fstatSync(namespace).ino !== statSync('/proc/self/ns/net').ino) return namespace;
  closeSync(namespace);
  throw new WorkcellError(
    'backend-unavailable',
    'The container is in the network namespace of this machine, so no rules can be enforced in it.',
  );
}

/** Prints the number of the process. Relative, because the path of a socket must be short. */
const whoListens = `
use Socket;
chdir $ARGV[0] or die "$ARGV[0]: $!";
socket(my $socket, PF_UNIX, SOCK_STREAM, 0) or die "socket: $!";
connect($socket, pack_sockaddr_un('s')) or die "connect: $!";
print unpack 'l', getsockopt($socket, SOL_SOCKET, 17);
`;

function obstacleTo({ ociRuntime, keepAlive }: DockerOptions, host: string): string | undefined {
  if (keepAlive) return 'with keepAlive it would outlive the gateway, which is in this process';
  if (!host.startsWith('unix:')) return `the engine at ${host} is on another machine`;
  if (ociRuntime?.startsWith('runsc')) return 'gVisor has a network stack of its own';
  if (findHostProgram('perl') === undefined) return 'this machine has no program "perl"';
  return process.getuid?.() === 0
    ? undefined
    : 'only root can enter the network namespace of a container, and this process is not root';
}
