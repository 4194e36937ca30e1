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
  /** A program with arguments, run in the cell, that succeeds when the thing is there. */
  readonly check: readonly string[];
  /** The command that installs it, or what to do instead. */
  readonly install: string;
}

/** What a plugin may use of the cell that it works in. */
export interface PluginCell extends Pick<Executor, 'execute' | 'upload' | 'download' | 'openTerminal'> {
  /** As seen from inside. */
  readonly workspace: string;
  /** A directory, private to the owner of the cell, that both sides see: the place for sockets. */
  readonly exchange: { readonly outside: string; readonly inside: string };
  /** A directory in which processes inside may make sockets, for `connect`. */
  readonly sockets: { readonly outside: string; readonly inside: string };
  /** Words that start Node inside, where the system of the cell can run it. */
  readonly node: readonly string[];
  /** Starts a process inside with what the cell's processes have as environment, `env` added to it. */
  spawn(argv: readonly string[], options?: Partial<SpawnOptions>): Promise<LaunchedProcess>;
  /** A connection to a port of the cell's own loopback, or to a socket by its path inside. */
  connect(place: number | string): Promise<Duplex>;
  /** A connection from inside the cell to whatever its network reaches. */
  dial(host: string, port: number): Promise<Duplex>;
  /** Ends processes that the plugin started; those that are gone already are no error. */
  signal(pids: readonly number[], signal: NodeJS.Signals): void;
  /** Kills a process and all that it started; settles when they are gone. */
  kill(pid: number): Promise<void>;
  /** How many processes the kernel killed for want of memory, where that can be known. */
  oomKills(): number;
  /** A place for output of any length, which `read_output` reads. */
  openOutput(): KeptOutput;
}

/** Keeps what something printed, within bounds. */
export interface KeptOutput {
  /** The handle for `read_output`. */
  readonly id: string;
  /** Keeps a copy. */
  append(stream: 'stdout' | 'stderr', chunk: Buffer): void;
  /** Nothing more will come. */
  end(): void;
}

/** What the verbs of a plugin may use of a runtime. Each call of it is judged, recorded and masked. */
export interface PluginRuntime extends Pick<Executor, 'upload' | 'download' | 'openTerminal'> {
  /** As seen from inside. */
  readonly workspace: string;
  /** Any action as JSON, its observation back. */
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

/** Makes members of a Runtime, each when it is first used. */
export type Verbs = {
  readonly [Verb in keyof RuntimeVerbs]?: (runtime: PluginRuntime) => RuntimeVerbs[Verb];
};

type Input<Definition> = Definition extends { readonly input: infer Schema extends z.ZodType }
  ? z.output<Schema>
  : never;
/** The observation's own name is added by the host. */
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
  /** Ends all that the plugin started. */
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
   * What it adds to a Runtime: for each name, what makes the function or object of that name. It is called on the trusted
   * side, once for a runtime, and never in a cell.
   */
  readonly verbs?: Verbs | undefined;
  /** What it needs, always or with such options. */
  readonly requirements?: readonly Requirement[] | ((options: unknown) => readonly Requirement[]) | undefined;
  /** Variables for every shell and process of the cell, known before or made in it; actions wait for them. */
  readonly environment?: Variables | ((cell: PluginCell, options: unknown) => Promise<Variables>) | undefined;
  /** Starts together with the cell instead of at its first action, always or with such options. */
  readonly early?: boolean | ((options: unknown) => boolean) | undefined;
  /** Called once for a cell. What is heavy is imported here and not before. */
  initialize(cell: PluginCell, options: unknown): Promise<PluginInstance<Actions>>;
}

/** Declares a plugin; the handlers are typed by its actions. */
export function definePlugin<const Actions extends ActionTable>(plugin: Plugin<Actions>): Plugin<Actions> {
  return plugin;
}
