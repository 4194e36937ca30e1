/** Starts processes on this machine as they are: no isolation. */
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { findProgram, hostProgram } from '../../base/find-program.js';
import { removeTree } from '../../base/remove-tree.js';
import { type Isolation, WorkcellError } from '../../protocol/index.js';
import { openPipes } from './anonymous-pipes.js';
import type { CellProcess, ExitStatus, LaunchedProcess, Launcher, SpawnOptions } from './launcher.js';
import { nodeCommand } from './node-command.js';
import { readProcess, readProcessTable, withDescendants } from './process-table.js';
import { spawnPty } from './pty.js';
import { makeFleeting } from './scratch.js';
import { spawnFailure } from './spawn-failure.js';
import { spawnOn } from './spawn-on.js';
import { connectTo, connectToSocket } from './unix-sockets.js';
import { cellVariable, ownerMark, startWatchdog } from './watchdog.js';

/** How many ended starts to remember, to tell which of them a process left behind belongs to. */
const rememberedStarts = 1024;

/** A killed process ends within this time unless the kernel itself is stuck in it. */
const vanishMs = 5000;

export function createHostLauncher(options: {
  workspace: string;
  environment: Readonly<Record<string, string>>;
  /** Words to put before every program, such as one that switches the user. */
  prefix?: readonly string[] | undefined;
  /** Default: the one in PATH. */
  bash?: string | undefined;
  /** True for a process that can only belong to the cell, whatever mark it carries. */
  isOwn?: ((entry: CellProcess) => boolean) | undefined;
}): Launcher {
  const { prefix = [], bash = 'bash', isOwn } = options;
  const cell = `${ownerMark}-${randomBytes(12).toString('hex')}`;
  const exchange = makeFleeting('exchange');
  const starts = new Starts();
  /** The processes that the last look found: they stay ours whatever they do to their environment. */
  let known = new Map<number, CellProcess>();
  let others: readonly CellProcess[] = [];
  let closing: Promise<void> | undefined;

  async function start<T extends { pid: number; exited: Promise<ExitStatus> }>(
    { cwd, env }: SpawnOptions,
    launch: (options: SpawnOptions) => Promise<T>,
  ): Promise<T> {
    if (closing !== undefined)
      throw new WorkcellError('runtime-closed', 'The cell is closed; start a new one.');
    startWatchdog();
    const number = starts.next();
    const launched = await launch({ cwd, env: { ...env, [cellVariable]: `${cell}.${number}` } });
    starts.add(number, launched);
    // A close that came meanwhile may have looked before the process was visible.
    if (closing !== undefined) sendSignal(launched.pid, 'SIGKILL');
    return launched;
  }

  function processes(): CellProcess[] {
    const all = readProcessTable();
    const attached = new Set(withDescendants(all, starts.running()).map((entry) => entry.pid));
    const orphans = new Map<number, number>();
    for (const entry of all) {
      const origin = attached.has(entry.pid) ? undefined : originOf(entry);
      if (origin !== undefined) orphans.set(entry.pid, origin);
    }
    const own = withDescendants(all, [...starts.running(), ...orphans.keys()]);
    const present = new Set(own.map((entry) => entry.pid));
    others = all.filter(({ pid }) => !present.has(pid));
    const related = own.map((entry) =>
      present.has(entry.parentPid)
        ? entry
        : { ...entry, parentPid: orphans.get(entry.pid) ?? entry.parentPid },
    );
    known = new Map(related.map((entry) => [entry.pid, entry]));
    return related;
  }

  /** The start that a process without a living parent stems from; undefined when it is not of this cell. */
  function originOf(entry: CellProcess): number | undefined {
    const { pid, parentPid, sessionId, startTicks } = entry;
    if (starts.isRunning(sessionId)) return sessionId;
    const number = readMark(pid, cell);
    if (number !== undefined) return starts.pid(number) ?? parentPid;
    const before = known.get(pid);
    if (startTicks > 0 && before?.startTicks === startTicks) return before.parentPid;
    if (!isOwn?.(entry)) return undefined;
    // When only one start is running, it comes from that one.
    const [only, another] = starts.running();
    return another === undefined ? (only ?? parentPid) : parentPid;
  }

  function signal(pids: readonly number[], name: NodeJS.Signals): void {
    for (const pid of pids) sendSignal(pid, name);
  }

  /** A group that has a process of others is another one of the same number. */
  function killGroups(ids: Iterable<number>): void {
    for (const id of ids)
      if (id > 1 && !others.some((entry) => entry.groupId === id && isForeign(entry)))
        sendSignal(-id, 'SIGKILL');
  }

  /** One that has ended since the look may have been ours: its mark was gone with it. */
  function isForeign({ pid, startTicks }: CellProcess): boolean {
    return readMark(pid, cell) === undefined && readProcess(pid)?.startTicks === startTicks;
  }

  async function end(): Promise<void> {
    const deadline = performance.now() + vanishMs;
    // A process may start another between the look and the kill; each round leaves fewer that could. No event reports
    // the exit of a process that is not our child, so look at the table itself.
    for (;;) {
      const remaining = processes();
      if (remaining.length === 0 || performance.now() > deadline) break;
      killGroups(new Set(remaining.map((entry) => entry.groupId)));
      signal(
        remaining.map((entry) => entry.pid),
        'SIGKILL',
      );
      await new Promise((resolve) => setImmediate(resolve));
    }
    removeTree(exchange);
  }

  return {
    files: { root: options.workspace, mount: options.workspace, workspace: options.workspace },
    exchange: { outside: exchange, inside: exchange },
    sockets: { outside: exchange, inside: exchange },
    bash,
    node: nodeCommand(),
    environment: options.environment,
    spawn: (argv, spawnOptions) =>
      start(spawnOptions, (marked) => spawnPiped(withOwnShell(argv, marked), marked, prefix)),
    openPty: (argv, ptyOptions) =>
      start(ptyOptions, (marked) =>
        spawnPty(withOwnShell(argv, marked), { ...ptyOptions, ...marked }, prefix),
      ),
    connect: (place) =>
      typeof place === 'number' ? connectTo({ port: place, host: '127.0.0.1' }) : connectToSocket(place),
    dial: (host, port) => connectTo({ host, port }),
    processes,
    signal,
    killGroups,
    close() {
      closing ??= end();
      return closing;
    },
  };
}

/**
 * Sessions have a shell that this side names, so a search path with entries such as `.` must not lead to one that lies in
 * the directory which a session starts in.
 */
function withOwnShell(argv: readonly string[], { env }: SpawnOptions): readonly string[] {
  const [file = '', ...args] = argv;
  const folders = env.PATH?.split(':') ?? [];
  if (!['bash', 'sh'].includes(file) || folders.every((folder) => folder.startsWith('/'))) return argv;
  const path = folders.filter((folder) => folder.startsWith('/')).join(':');
  return [(path === '' ? undefined : findProgram(file, path)) ?? hostProgram(file), ...args];
}

/** The starts by number: the process ids of running ones and of the last ended ones. */
class Starts {
  readonly #pids = new Map<number, number>();
  readonly #running = new Set<number>();
  readonly #ended: number[] = [];
  #count = 0;

  next(): number {
    return ++this.#count;
  }

  add(number: number, { pid, exited }: { pid: number; exited: Promise<ExitStatus> }): void {
    this.#pids.set(number, pid);
    this.#running.add(pid);
    void exited.then(() => {
      this.#running.delete(pid);
      this.#ended.push(number);
      const oldest = this.#ended.length > rememberedStarts ? this.#ended.shift() : undefined;
      if (oldest !== undefined) this.#pids.delete(oldest);
    });
  }

  pid(number: number): number | undefined {
    return this.#pids.get(number);
  }

  running(): Iterable<number> {
    return this.#running;
  }

  isRunning(pid: number): boolean {
    return this.#running.has(pid);
  }
}

async function spawnPiped(
  argv: readonly string[],
  options: SpawnOptions,
  prefix: readonly string[],
): Promise<LaunchedProcess> {
  const pipes = await openPipes();
  try {
    const { pid, exited } = await spawnOn(pipes.inner, [...prefix, ...argv], options);
    const { stdin, stdout, stderr } = pipes;
    return { pid, stdin, stdout, stderr, exited };
  } catch (error) {
    pipes.close();
    throw spawnFailure(argv, options, error as NodeJS.ErrnoException);
  } finally {
    pipes.closeInner();
  }
}

/** The number of the start that a process of this cell comes from, as its environment tells. */
function readMark(pid: number, cell: string): number | undefined {
  try {
    const environment = readFileSync(`/proc/${pid}/environ`, 'latin1');
    const mark = `${cellVariable}=${cell}.`;
    const at = environment.indexOf(mark);
    return at === -1 ? undefined : Number.parseInt(environment.slice(at + mark.length), 10);
  } catch {
    return undefined;
  }
}

/** An ended process needs no signal. One that changed its user cannot get any, but the others still must. */
function sendSignal(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'ESRCH' && code !== 'EPERM') throw error;
  }
}

/** Nothing restricts what runs here. `files`: what file verbs reach. */
export function hostIsolation({
  files = 'workspace',
  uid = process.getuid?.() ?? 0,
}: {
  files?: 'workspace' | 'machine';
  uid?: number | undefined;
} = {}): Isolation {
  const writable = files === 'machine' ? ['/'] : [];
  return {
    tier: 'none',
    facts: [
      { code: 'user', enforced: false, values: { uid, sharedWith: ['other programs of that user'] } },
      { code: 'executor', enforced: false, values: {} },
      { code: 'files', enforced: false, values: { system: 'machine', writable } },
      { code: 'network', enforced: false, values: { kind: 'machine', networks: [], publishedPorts: 0 } },
    ],
  };
}
