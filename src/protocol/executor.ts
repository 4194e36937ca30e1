import type { ActionTable } from './action.js';
import type { Action, ActionName, Observation } from './actions/index.js';
import type { Progress } from './progress.js';

/** What goes along with an action: cancellation, and who hears about its progress. */
export interface ExecuteContext {
  /** Cancels the action and ends a command that runs because of it. */
  readonly signal?: AbortSignal | undefined;
  /** Receives what happens before the observation. A returned promise holds the producer back. */
  readonly onProgress?: ((progress: Progress) => unknown) | undefined;
  /** How risky the caller itself finds the action. It can make a policy stricter, never milder. */
  readonly statedRisk?: 'low' | 'medium' | 'high' | undefined;
}

/** How uploads and downloads pack directories. */
export type ArchiveFormat = 'tar' | 'zip';

/** How to take the bytes of an upload: as one file or as an archive. */
export interface UploadOptions {
  /** Unpacks the bytes as an archive below the path; without it they become one file. */
  readonly format?: ArchiveFormat | undefined;
  readonly mode?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** What to download: a whole file, a range of it, or a packed directory. */
export interface DownloadOptions {
  /** Packs a directory, or a single file; without it the path must be a file and comes as it is. */
  readonly format?: ArchiveFormat | undefined;
  /** First byte, for a single file. */
  readonly start?: number | undefined;
  /** Last byte, included. */
  readonly end?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** What an upload wrote. */
export interface Uploaded {
  readonly path: string;
  readonly files: number;
  readonly sizeBytes: number;
}

/** A download: its bytes, and what they are. */
export interface Downloaded {
  readonly mediaType: string;
  /** Size of the whole file; unknown for an archive. */
  readonly sizeBytes?: number | undefined;
  /**
   * Identifies the content of the file. It changes with every change or replacement of the file. Unknown for an
   * archive.
   */
  readonly version?: string | undefined;
  readonly content: AsyncIterable<Uint8Array>;
}

/** The program, directory, variables and size of a terminal. */
export interface TerminalOptions {
  /** Program and arguments; default: the cell's shell, interactive. */
  readonly argv?: readonly string[] | undefined;
  readonly cwd?: string | undefined;
  readonly env?: Readonly<Record<string, string>> | undefined;
  readonly columns?: number | undefined;
  readonly rows?: number | undefined;
}

/** A live terminal in the cell. */
export interface Terminal {
  readonly id: string;
  /** Raw bytes as the program writes them; ends when the program does. Read by one reader. */
  readonly output: AsyncIterable<Uint8Array>;
  readonly exited: Promise<{ exitCode: number | null; signal: string | null }>;
  /**
   * Settles, and never fails, when the program's terminal has taken the bytes, so that you cannot type faster than it
   * reads.
   */
  write(data: string | Uint8Array): Promise<void>;
  resize(columns: number, rows: number): void;
  close(): Promise<void>;
}

/** One part of what an executor can do. */
export interface Capability {
  readonly name: string;
  readonly state: 'ready' | 'unavailable';
  /** Why it is not ready. */
  readonly reason?: string | undefined;
  /** What it is, when it is a plugin. */
  readonly plugin?:
    | { readonly version: string; readonly summary: string; readonly actions: readonly string[] }
    | undefined;
}

/** Carries actions out. The real one sits beside a launcher; the HTTP client reaches one inside a cell. */
export interface Executor {
  /** What it can do. */
  readonly actions: ActionTable;
  execute<Name extends ActionName>(
    action: Action<Name>,
    context?: ExecuteContext,
  ): Promise<Observation<Name>>;
  upload(path: string, content: AsyncIterable<Uint8Array>, options?: UploadOptions): Promise<Uploaded>;
  download(path: string, options?: DownloadOptions): Promise<Downloaded>;
  openTerminal(options?: TerminalOptions): Promise<Terminal>;
  /** A connection to a port of the cell's own loopback, where the place can give one. */
  connect?(port: number): Promise<NodeJS.ReadWriteStream>;
  /** What the cell uses, for those who only look: a record has nothing of it. */
  glance?(): Promise<Observation<'stats'>>;
  /** Whether what plugins add would work, where there are any. */
  capabilities?(): Promise<Capability[]>;
  /** Ends everything that it started. Succeeds when called twice. */
  close(): Promise<void>;
}
