/**
 * Starts processes as another user than the server's, for a server that runs as root inside a container.
 *
 * The server keeps its own user, which is root or in a container also another one, as its real and saved user, and
 * takes the user of the commands as its effective user. So files that file verbs write belong to that user, and file
 * verbs reach only what that user may reach. Commands run entirely as that user and can neither signal the server nor
 * read its memory, environment or descriptors.
 */
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findHostProgram, hostProgram } from '../../base/find-program.js';
import { removeTree } from '../../base/remove-tree.js';
import { type Isolation, WorkcellError } from '../../protocol/index.js';
import { makeFifosThrough } from './fifo.js';
import { createHostLauncher } from './host-launcher.js';
import type { Launcher, SpawnOptions } from './launcher.js';
import { readOwnOomKills } from './limits/oom-kills.js';
import { ownedPrefix, sweepAbandoned } from './scratch.js';
import { spawnObstacle } from './spawn-failure.js';
import { unreadableCopy } from './unreadable.js';

export interface User {
  readonly uid: number;
  readonly gid: number;
}

/** From here on files belong to this user. Call it once, in a process that may change its user. */
export function takeUser({ uid, gid }: User): void {
  if (process.getuid?.() === uid) {
    throw new WorkcellError(
      'invalid-config',
      `Commands cannot run as user ${uid}: that is the user of the server itself.`,
      { details: { uid } },
    );
  }
  bash ??= protectBash([...switchTo({ uid, gid }), '--']);
  // A kernel such as gVisor may make the real user of a process the user of what it executes.
  makeFifosThrough([...switchTo({ uid, gid }), '--']);
  try {
    process.setgroups?.([]);
    process.setgid?.(gid);
    process.seteuid?.(uid);
  } catch (cause) {
    throw new WorkcellError(
      'permission-denied',
      `Commands can run as user ${uid} only when root starts the server.`,
      { details: { uid }, cause },
    );
  }
}

/** The bash for shells, which the other user may execute and not read; undefined until there is one. */
let bash: string | undefined;

/** Undefined where the system has no bash, or starts no program that its user may not read. */
function protectBash(prefix: readonly string[]): string | undefined {
  const program = findHostProgram('bash');
  if (program === undefined) return undefined;
  // Do not use the directory of this user, because the other one has to enter it.
  void sweepAbandoned({ path: tmpdir(), base: tmpdir() });
  const directory = mkdtempSync(join(tmpdir(), ownedPrefix()));
  process.once('exit', () => {
    process.seteuid?.(process.getuid?.() ?? 0);
    removeTree(directory);
  });
  chmodSync(directory, 0o711);
  const copy = unreadableCopy(program, directory);
  const [file = '', ...args] = [...prefix, copy, '-c', ':'];
  return spawnSync(file, args, { stdio: 'ignore' }).status === 0 ? copy : undefined;
}

/** Becomes the first user again, for good. No work of the other user may be in progress. */
export function resumeRoot(): void {
  process.seteuid?.(0);
}

/** A launcher whose processes have this user and group, no others, and no way to gain more unless they may. */
export function createUidLauncher(
  options: {
    workspace: string;
    environment: Readonly<Record<string, string>>;
    /** Default: as the system knows that user, or else the workspace. */
    home?: string | undefined;
    /** Descriptors of one process. */
    openFiles?: number | undefined;
    /** Programs such as sudo may give the user more rights. Default: nothing does. */
    mayGain?: boolean | undefined;
    /** All programs of the user here come from this launcher. */
    alone?: boolean | undefined;
  } & User,
): Launcher {
  const { uid, gid, workspace, openFiles, alone = false, mayGain = false } = options;
  const account = accountOf(uid);
  // Without another user, commands also lack the capability to read it.
  if (process.getuid?.() === uid) bash ??= protectBash([]);
  const host = createHostLauncher({
    workspace,
    bash,
    environment: {
      ...options.environment,
      HOME: options.home ?? account?.home ?? workspace,
      USER: account?.name ?? String(uid),
      LOGNAME: account?.name ?? String(uid),
    },
    prefix: [
      ...(openFiles === undefined ? [] : [hostProgram('prlimit'), `--nofile=${openFiles}`, '--']),
      // Without another user, commands are root without capabilities already.
      ...(process.getuid?.() === uid
        ? []
        : [...switchTo({ uid, gid }), ...(mayGain ? [] : ['--no-new-privs']), '--inh-caps=-all', '--']),
      ...firstVictim(),
    ],
    isOwn:
      alone && process.getuid?.() !== uid
        ? (entry) => entry.parentPid === 1 && isOf(uid, entry.pid)
        : undefined,
  });
  const check = (argv: readonly string[], place: SpawnOptions) => {
    const obstacle = spawnObstacle(argv, place);
    if (obstacle !== undefined) throw obstacle;
  };
  return {
    ...host,
    isContained: alone,
    async spawn(argv, place) {
      check(argv, place);
      return host.spawn(argv, place);
    },
    async openPty(argv, place) {
      check(argv, place);
      return host.openPty(argv, place);
    },
    oomKills,
  };
}

/** Compares the real user, which never equals the server's. */
function isOf(uid: number, pid: number): boolean {
  try {
    return new RegExp(`^Uid:\\t${uid}\\t`, 'm').test(readFileSync(`/proc/${pid}/status`, 'latin1'));
  } catch {
    return false;
  }
}

/** When memory runs out, the kernel takes commands before it takes the server. */
function firstVictim(): string[] {
  const program = findHostProgram('choom');
  return program === undefined ? [] : [program, '-n', '1000', '--'];
}

/** Counted for the control group that the container is in, by either version of the kernel's interface. */
function oomKills(): number {
  // The kernel uses one version, or shows none.
  return (
    readOwnOomKills('/sys/fs/cgroup/memory.events') ??
    readOwnOomKills('/sys/fs/cgroup/memory/memory.oom_control') ??
    0
  );
}

/** What separates the commands from the server. This file does not judge the machine around both. */
export function uidIsolation({ uid }: User): Isolation {
  return {
    tier: 'none',
    facts: [
      { code: 'user', enforced: false, values: { uid, sharedWith: ['other programs of that user'] } },
      { code: 'executor', enforced: true, values: {} },
      { code: 'files', enforced: false, values: { system: 'machine', writable: [] } },
      { code: 'network', enforced: false, values: { kind: 'machine', networks: [], publishedPorts: 0 } },
    ],
  };
}

function switchTo({ uid, gid }: User): string[] {
  return [setpriv(), `--reuid=${uid}`, `--regid=${gid}`, '--keep-groups'];
}

function setpriv(): string {
  const program = findHostProgram('setpriv');
  if (program !== undefined) return program;
  throw new WorkcellError(
    'backend-unavailable',
    'Running commands as another user needs the program "setpriv"; install util-linux.',
  );
}

function accountOf(uid: number): { name: string; home: string } | undefined {
  try {
    const line = readFileSync('/etc/passwd', 'utf8')
      .split('\n')
      .map((entry) => entry.split(':'))
      .find((fields) => fields[2] === String(uid));
    const [name, , , , , home] = line ?? [];
    return name === undefined || home === undefined ? undefined : { name, home };
  } catch {
    return undefined;
  }
}
