/** The contract of a plugin: how an executor learns actions that its core does not know. */
import type { Duplex } from 'node:stream';
import type { z } from 'zod';
import type {
  ActionInput,
  ActionName,
  ActionTable,
  ExecuteContext,
  Executor,
  Observation,
  RuntimeVerbs,
} from '../../protocol/index.js';
import type { LaunchedProcess, SpawnOptions } from '../launchers/launcher.js';

/** Something a plugin needs inside the cell. */
export interface Requirement {
  /** As people call it, such as `ipykernel`. */
  readonly name: string;
  /** A program with arguments, run in the cell, that succeeds when the thing exists. */
  readonly check: readonly string[];
  /** The command that installs it, or what to do instead. */
  readonly install: string;
}

/** What a plugin may use of its cell. */
export interface PluginCell extends Pick<Executor, 'execute' | 'upload' | 'download' | 'openTerminal'> {
  /** As seen from inside. */
  readonly workspace: string;
  /** A directory, private to the owner of the cell, that both sides see: the place for sockets. */
  readonly exchange: { readonly outside: string; readonly inside: string };
  /** A directory in which processes inside may make sockets, for `connect`. */
  readonly sockets: { readonly outside: string; readonly inside: string };
  /** Words that start Node inside, where the system of the cell can run it. */
  readonly node: readonly string[];
  /** Starts a process inside with the environment of the cell's processes and `env`. */
  spawn(argv: readonly string[], options?: Partial<SpawnOptions>): Promise<LaunchedProcess>;
  /** A connection to a port of the cell's own loopback, or to a socket by its path inside. */
  connect(place: number | string): Promise<Duplex>;
  /** A connection from inside the cell to whatever its network reaches. */
  dial(host: string, port: number): Promise<Duplex>;
  /** Ends processes that the plugin started. Ended ones are no error. */
  signal(pids: readonly number[], signal: NodeJS.Signals): void;
  /** Kills a process and everything that it started; settles when they have ended. */
  kill(pid: number): Promise<void>;
  /** How many processes the kernel killed for lack of memory, where we can know that. */
  oomKills(): number;
  /** A place for output of any length, which `read_output` reads. */
  openOutput(): KeptOutput;
}

/** Keeps output within bounds. */
export interface KeptOutput {
  /** The handle for `read_output`. */
  readonly id: string;
  /** Keeps a copy. */
  append(stream: 'stdout' | 'stderr', chunk: Buffer): void;
  /** Nothing more will come. */
  end(): void;
}

/** What the verbs of a plugin may use of a runtime. The runtime judges, records and masks each call. */
export interface PluginRuntime extends Pick<Executor, 'upload' | 'download' | 'openTerminal'> {
  /** As seen from inside. */
  readonly workspace: string;
  /** Carries out any action as JSON and returns its observation. */
  execute<Name extends ActionName>(
    action: ActionInput<Name> & { action: Name },
    context?: ExecuteContext,
  ): Promise<Observation<Name>>;
  /** Leads from this machine's loopback to a port inside the cell. */
  readonly ports: { forward(port: number): Promise<PluginPort> };
}

/** A port of this machine that leads to one inside the cell. */
export interface PluginPort {
  readonly url: string;
  readonly port: number;
  close(): Promise<void>;
}

/** Creates members of a Runtime, each on first use. */
export type Verbs = {
  readonly [Verb in keyof RuntimeVerbs]?: (runtime: PluginRuntime) => RuntimeVerbs[Verb];
};

type Input<Definition> = Definition extends { readonly input: infer Schema extends z.ZodType }
  ? z.output<Schema>
  : never;
/** The host adds the observation's own name. */
type Output<Definition> = Definition extends { readonly output: infer Schema extends z.ZodType }
  ? Omit<z.input<Schema>, 'observation'>
  : never;

/** One plugin at work in one cell. */
export interface PluginInstance<Actions extends ActionTable = ActionTable> {
  readonly handlers: {
    readonly [Name in keyof Actions]: (
      action: Input<Actions[Name]>,
      context: ExecuteContext,
    ) => Output<Actions[Name]> | Promise<Output<Actions[Name]>>;
  };
  /** Ends everything that the plugin started. */
  dispose?(): Promise<void> | void;
}

type Variables = Readonly<Record<string, string>>;

/** A plugin: its actions, what it needs, and how it starts in a cell. */
export interface Plugin<Actions extends ActionTable = ActionTable> {
  readonly name: string;
  readonly version: string;
  /** One sentence for `workcell plugins list`. */
  readonly summary: string;
  readonly actions: Actions;
  /**
   * What it adds to a Runtime: for each name, a function that creates the function or object of that name. The
   * trusted side calls it once for a runtime, and never in a cell.
   */
  readonly verbs?: Verbs | undefined;
  /** What it needs, always or with such options. */
  readonly requirements?: readonly Requirement[] | ((options: unknown) => readonly Requirement[]) | undefined;
  /** Variables for every shell and process of the cell: constants, or made in the cell; actions wait for them. */
  readonly environment?: Variables | ((cell: PluginCell, options: unknown) => Promise<Variables>) | undefined;
  /** Starts together with the cell instead of at its first action, always or with such options. */
  readonly early?: boolean | ((options: unknown) => boolean) | undefined;
  /** The host calls it once for a cell. Import heavy modules here and not before. */
  initialize(cell: PluginCell, options: unknown): Promise<PluginInstance<Actions>>;
}

/** Declares a plugin; its actions give the types of the handlers. */
export function definePlugin<const Actions extends ActionTable>(plugin: Plugin<Actions>): Plugin<Actions> {
  return plugin;
}
