import type { Duplex, Writable } from 'node:stream';
import type { ProgramOutput } from './program-output.js';

/** Where the cell's files are: processes inside see the outside directory `root` at `mount`. */
export interface FileTree {
  /** Directory on this side that file verbs never leave. */
  readonly root: string;
  /** The same directory as seen from inside: `/`, or the workspace where file verbs reach nothing else. */
  readonly mount: string;
  /** The workspace as seen from inside; relative paths start here. */
  readonly workspace: string;
}

export interface ExitStatus {
  readonly exitCode: number | null;
  readonly signal: string | null;
}

export interface SpawnOptions {
  /** As seen from inside. */
  readonly cwd: string;
  /** The whole environment of the process. */
  readonly env: Readonly<Record<string, string>>;
}

export interface PtyOptions extends SpawnOptions {
  readonly columns: number;
  readonly rows: number;
  /**
   * Gives the program a channel: it reads from its descriptor 3 what you write to `LaunchedPty.channel`. No path
   * leads to it, so other programs can get it only from this one.
   */
  readonly channel?: true;
}

/** A process with pipes. It leads its own process group. */
export interface LaunchedProcess {
  /** As seen from inside. */
  readonly pid: number;
  readonly stdin: Writable;
  readonly stdout: ProgramOutput;
  readonly stderr: ProgramOutput;
  /** Settles when the process itself has ended; its children may still hold the pipes. */
  readonly exited: Promise<ExitStatus>;
}

/** A process that leads a session on its own terminal. */
export interface LaunchedPty {
  /** As seen from inside. */
  readonly pid: number;
  /** Present when requested. */
  readonly channel?: Writable | undefined;
  readonly exited: Promise<ExitStatus>;
  /** Called with each piece of output; set once, before the first piece can arrive. */
  onData(listener: (chunk: Buffer) => void): void;
  /** Calls the listener when the last holder of the terminal has closed it and nothing more can arrive. */
  onEnd(listener: () => void): void;
  /** Settles, never fails, when the terminal has taken it, which takes as long as the program takes to read. */
  write(data: string | Buffer): Promise<void>;
  resize(columns: number, rows: number): void;
  /** Stops and restarts reading, so that a slow consumer holds the program back. */
  pause(): void;
  resume(): void;
  /** Closes the terminal; what still runs on it gets a hang-up. */
  close(): void;
}

/** One process of the cell. All ids are as seen from inside. */
export interface CellProcess {
  readonly pid: number;
  /** For a process whose parents have ended: the launched process that it stems from, where we know it. */
  readonly parentPid: number;
  readonly groupId: number;
  readonly sessionId: number;
  /** Foreground group of its terminal; -1 without one. */
  readonly foregroundGroupId: number;
  /** Start time in clock ticks since boot; tells a process from a later one with the same id. */
  readonly startTicks: number;
  readonly cpuMs: number;
  readonly memoryBytes: number;
}

/** Starts processes inside the cell. */
export interface Launcher {
  readonly files: FileTree;
  /**
   * True where a process reaches no more than the cell, whatever program it runs. Only there may file verbs start a
   * program of the cell, which anybody in it can replace.
   */
  readonly isContained?: boolean | undefined;
  /** A directory of this cell, private to its owner, that both sides see: here and from inside. */
  readonly exchange: { readonly outside: string; readonly inside: string };
  /** A directory of this cell in which processes inside may make sockets, and this side connect to them. */
  readonly sockets: { readonly outside: string; readonly inside: string };
  /**
   * The bash for shell sessions: where the place allows it, one that other programs of the cell may not look into
   * (`unreadable.ts`).
   */
  readonly bash: string;
  /** Words that start Node inside, where the system of the cell can run it. */
  readonly node: readonly string[];
  /** What every process starts with, before the runtime's own variables. */
  readonly environment: Readonly<Record<string, string>>;
  spawn(argv: readonly string[], options: SpawnOptions): Promise<LaunchedProcess>;
  openPty(argv: readonly string[], options: PtyOptions): Promise<LaunchedPty>;
  /** A connection to a port of the cell's own loopback, or to one of its sockets by the path inside. */
  connect(place: number | string): Promise<Duplex>;
  /** A connection from inside the cell to whatever its network reaches. */
  dial(host: string, port: number): Promise<Duplex>;
  /**
   * Everything that runs in the cell now. Calls `onGone` for a process that ended while we looked at it, where that
   * shows.
   */
  processes(onGone?: (pid: number) => void): CellProcess[];
  /** Sends a signal. An ended process is no error. */
  signal(pids: readonly number[], signal: NodeJS.Signals): void;
  /** Kills all members of the cell's process groups at one instant, those that just fork included. Call it after `processes`. */
  readonly killGroups?: ((ids: Iterable<number>) => void) | undefined;
  /** Stops everything in the cell at one instant, calls `work` and resumes it, where that can be. Rejects when the cell ends. */
  readonly whileHalted?: (<T>(work: () => T) => Promise<T>) | undefined;
  /** How many processes the kernel killed for lack of memory, where we can know that. */
  oomKills?(): number;
  /** While all processes are stopped, where the launcher can stop them: settles when they resume. */
  frozen?(): Promise<void> | undefined;
  /** Ends every process and removes what the launcher created. Succeeds when called twice. */
  close(): Promise<void>;
}
