import type { Executor } from './executor.js';
import type { Isolation } from './isolation.js';
import type { FullNetworkRules, NetworkRecord, NetworkRules } from './network/network-schema.js';

/** How a pool of this process has done so far. */
export interface PoolStats {
  /** Cells that are ready now. */
  readonly parked: number;
  /** Starts that the pool served, and those that it did not. */
  readonly hits: number;
  readonly misses: number;
}

/** A port inside of a cell, and the one that leads to it. */
export interface PublishedPort {
  readonly container: number;
  readonly host: number;
}

/** What went through the network of a cell so far. */
export interface NetworkStats {
  readonly connections: number;
  readonly refused: number;
  readonly sentBytes: number;
  readonly receivedBytes: number;
}

/** A host that no rule covers. */
export interface NetworkQuestion {
  readonly host: string;
  readonly port: number;
  /** The commands that run in the cell now; one of them may be it. */
  readonly commands?: readonly string[] | undefined;
}

/**
 * `once`: this connection. `cell`: until the cell ends. `always`: other cells of this user that ask, too. Anything else
 * refuses.
 */
export type NetworkAnswer = 'once' | 'cell' | 'always' | 'deny';

/** Answers questions about hosts. When the signal aborts, nobody waits for the answer any longer. */
export type NetworkAsker = (
  question: NetworkQuestion,
  signal: AbortSignal,
) => NetworkAnswer | Promise<NetworkAnswer>;

/** A secret that a cell uses without having it: the gateway puts it into requests to these hosts. */
export interface NetworkSecret {
  /** The variable that holds its placeholder in the cell. */
  readonly name: string;
  /** As rules have them, on port 443 where they name none; with `http://` in front for requests without TLS. */
  readonly hosts: readonly string[];
  /** Also into bodies. Default: into headers and passwords of basic authentication only. */
  readonly body?: boolean | undefined;
  /** Undefined when there is none now. */
  value(): Promise<string | undefined>;
}

/** Controls what a cell reaches on the network. Only cells that start with rules have one. */
export interface CellNetwork {
  rules(): FullNetworkRules;
  /** Puts other rules in force, made from those before, and ends the connections that they do not allow. */
  change(next: (before: FullNetworkRules) => NetworkRules): Promise<void>;
  stats(): NetworkStats;
  /** Who answers questions from now on. */
  answerWith(asker: NetworkAsker | undefined): void;
  /** Who has the values of its secrets from now on, where the gateway is in another process. */
  provide?(secrets: readonly NetworkSecret[]): void;
  /** Gets each decision, each connection and each change of the rules from now on. One listener at a time. */
  listen(listener: (event: NetworkRecord) => void): void;
}

/** One running place. Only its owner holds it; agents get the Runtime. */
export interface Cell {
  readonly id: string;
  readonly backend: string;
  readonly executor: Executor;
  /** What the cell really enforces, probed at start. */
  readonly isolation: Isolation;
  /** Path of the workspace as seen from inside. */
  readonly workspace: string;
  /** Nobody else has its workspace, so going back there harms no work of others. Of kept cells. */
  readonly ownsWorkspace?: boolean | undefined;
  /** The path by which this side reaches the workspace, where the cell sees more than a directory of this machine. */
  readonly workspaceRoot?: string | undefined;
  /** The path by which this side reaches what the cell wrote to its workspace, where a file system of the cell holds that. */
  readonly workspaceUpper?: string | undefined;
  /** The paths by which this side reaches its home directory and its temporary files, where they are its own. */
  readonly otherPlaces?: { readonly home: string; readonly tmp: string } | undefined;
  /** Its processes, as this machine numbers them. */
  readonly processes?: (() => Iterable<number>) | undefined;
  /** Published ports on the loopback of the machine that the cell is on. */
  readonly ports?: readonly PublishedPort[] | undefined;
  /** Present when rules say what the cell reaches. */
  readonly network?: CellNetwork | undefined;
  /** Resolves when the place dies by itself, with the reason. */
  readonly lost?: Promise<string> | undefined;
  /** For a cell whose start asked the pool of its backend. */
  poolStats?(): PoolStats;
  /** Ends everything and leaves nothing behind. Succeeds when called twice. */
  stop(): Promise<void>;
  /** Releases a kept cell and leaves it running, so that its backend can attach to it again. */
  detach?(): Promise<void>;
  pause?(): Promise<void>;
  resume?(): Promise<void>;
}
