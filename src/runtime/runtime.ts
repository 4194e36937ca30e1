import type { LoadedPlugin } from '../cell/plugins/load-plugins.js';
import {
  type Action,
  type ActionInput,
  type ActionName,
  type ActionTable,
  type Capability,
  type Cell,
  type Downloaded,
  type DownloadOptions,
  type EditStep,
  type ExecuteContext,
  type Executor,
  type Isolation,
  type NetworkAsker,
  type NetworkStats,
  type Observation,
  type PoolStats,
  type RuntimeStatus,
  type StatusUpdate,
  type Terminal,
  type TerminalOptions,
  type Uploaded,
  type UploadOptions,
  WorkcellError,
} from '../protocol/index.js';
import type {
  ApplyOptions,
  Checkpoint,
  CheckpointOptions,
  ForkOptions,
  RewindOptions,
  Rewound,
  TakenOver,
  TakeOverOptions,
  WorkspaceState,
} from './checkpoints/checkpoint-types.js';
import type { RuntimeCheckpoints } from './checkpoints/runtime-checkpoints.js';
import { historyOf, keepHistory } from './checkpoints/runtime-history.js';
import type { WorkspaceChange } from './checkpoints/show-changes.js';
import type { EventStream } from './events/stream.js';
import { RuntimeGit } from './git/runtime-git.js';
import { RuntimeMicroagents } from './microagents/microagents.js';
import {
  downloadFile,
  executeAction,
  executeForOwner,
  openPort,
  openTerminal,
  type Pipeline,
  performVerb,
  type Trusted,
  uploadFile,
} from './pipeline.js';
import { RuntimeEvents } from './runtime-events.js';
import { Files } from './runtime-files.js';
import { RuntimeNetwork } from './runtime-network.js';
import { RuntimePorts } from './runtime-ports.js';
import { RuntimeProcesses } from './runtime-processes.js';
import {
  type ActionOptions,
  type OutputListener,
  type OwnRuntime,
  type SecretInput,
  toContext,
} from './verb-call.js';
import { addBuiltinVerbs, addPluginVerbs, type RuntimeVerbs } from './verbs/index.js';

/** How to run a command: session, limits, and who hears about its output. */
export interface RunOptions extends ActionOptions<'run', 'command'> {
  /** Receives output as it comes, escape sequences included. The program waits while a returned promise is pending. */
  onOutput?: OutputListener;
  /** Ends the command and all it started. */
  signal?: AbortSignal;
}

export interface RuntimeParts extends Trusted {
  readonly cell: Cell;
  readonly events: EventStream;
  /** The plugins whose verbs the runtime has, besides those of this package. */
  readonly plugins?: readonly LoadedPlugin[] | undefined;
  readonly onStatus?: ((update: StatusUpdate) => void) | undefined;
  /** Answers questions about hosts that no network rule is on. */
  readonly askNetwork?: NetworkAsker | undefined;
  /** Rules on hosts that stay denied, whatever rules you set later. */
  readonly deniedNetwork?: readonly string[] | undefined;
  /** For a cell whose workspace we can capture. */
  readonly checkpoints?: (() => RuntimeCheckpoints) | undefined;
  /** Limits of a `run` that sets none itself. */
  readonly defaults?: RunDefaults | undefined;
}

export interface RunDefaults {
  readonly timeoutMs?: number | undefined;
  readonly noChangeTimeoutMs?: number | undefined;
}

/**
 * What an agent holds: takes actions and answers with observations. It is an executor whose every member judges,
 * records and masks, so whatever takes an executor can take a runtime.
 */
// biome-ignore lint/suspicious/noUnsafeDeclarationMerging: the constructor adds what the interface promises
export class Runtime implements Executor, AsyncDisposable {
  readonly id: string;
  readonly backend: string;
  readonly isolation: Isolation;
  /** The workspace as seen from inside. */
  readonly workspace: string;
  readonly events: RuntimeEvents;
  readonly files: Files;
  readonly processes: RuntimeProcesses;
  readonly ports: RuntimePorts;
  /** What the cell may reach, for cells that started with rules. */
  readonly network: RuntimeNetwork;
  readonly terminals: { open(options?: TerminalOptions): Promise<Terminal> };
  readonly env: {
    get(): Promise<Record<string, string>>;
    set(variables: Readonly<Record<string, string>>): Promise<void>;
    unset(...names: string[]): Promise<void>;
  };

  readonly #parts: RuntimeParts;
  readonly #call: OwnRuntime;
  #git: RuntimeGit | undefined;
  #microagents: RuntimeMicroagents | undefined;
  readonly #shells = new Map<string, string | null>();
  #status: RuntimeStatus = 'RUNTIME_STARTED';
  #closing: Promise<void> | undefined;

  static {
    addBuiltinVerbs(Runtime.prototype, (runtime) => runtime.#call);
  }

  constructor(parts: RuntimeParts) {
    const { cell, events } = parts;
    this.#parts = parts;
    this.id = cell.id;
    this.backend = cell.backend;
    this.isolation = cell.isolation;
    this.workspace = cell.workspace;
    this.events = new RuntimeEvents(events, (action, origin) =>
      executeAction(this.#pipeline(), action, {}, origin),
    );
    this.network = new RuntimeNetwork(
      cell.network,
      (event) => {
        const network = parts.mask === undefined ? event : parts.mask.value(event);
        events.append({ kind: 'network', network }, event.outcome === 'changed' ? 'user' : 'environment');
      },
      parts.askNetwork,
      parts.deniedNetwork,
    );
    this.ports = new RuntimePorts((port) => openPort(this.#pipeline(), port), cell.ports);
    const call = this.#callIn(() => this.#pipeline());
    this.#call = call;
    this.files = new Files(call);
    this.processes = new RuntimeProcesses(call);
    this.terminals = { open: (options) => this.openTerminal(options) };
    this.env = {
      get: async () => (await this.execute({ action: 'get_env' })).variables,
      set: async (variables) => void (await this.execute({ action: 'set_env', variables: { ...variables } })),
      unset: async (...names) => void (await this.execute({ action: 'unset_env', names })),
    };
    addPluginVerbs(this, call, parts.plugins ?? []);
    if (parts.checkpoints !== undefined) keepHistory(this, parts.checkpoints);
    this.#setStatus({ status: 'READY', level: 'info', message: `Cell ${cell.id} is ready.` });
    void cell.lost?.then((reason) => {
      if (this.#closing === undefined)
        this.#setStatus({ status: 'ERROR_RUNTIME_DISCONNECTED', level: 'error', message: reason });
    });
  }

  /** What `execute` takes: the actions of every executor, and those of the plugins. */
  get actions(): ActionTable {
    return this.#parts.cell.executor.actions;
  }

  /** Whether the plugins work in this cell, and what is missing where they do not. */
  async capabilities(): Promise<Capability[]> {
    return (await this.#open().capabilities?.()) ?? [];
  }

  get status(): RuntimeStatus {
    return this.#status;
  }

  /** Git in the workspace; `at` leads to repositories below it. */
  get git(): RuntimeGit {
    this.#git ??= new RuntimeGit(this.#call, this.workspace);
    return this.#git;
  }

  /** Instructions that the repository, its organisation and the user keep for agents. */
  get microagents(): RuntimeMicroagents {
    this.#microagents ??= new RuntimeMicroagents(this.#call, () => this.git);
    return this.#microagents;
  }

  /** Carries out any action as JSON and returns its observation. */
  execute<Name extends ActionName>(
    action: ActionInput<Name> & { action: Name },
    context?: ExecuteContext,
  ): Promise<Observation<Name>>;
  execute<Name extends ActionName>(
    action: Action<Name>,
    context?: ExecuteContext,
  ): Promise<Observation<Name>>;
  async execute<Name extends ActionName>(
    action: ActionInput<Name>,
    context: ExecuteContext = {},
  ): Promise<Observation<Name>> {
    return executeAction<Name>(this.#pipeline(), action, context);
  }

  /** Copies bytes into the cell: one file, or an archive to unpack. `files.upload` also takes local files. */
  async upload(
    path: string,
    content: AsyncIterable<Uint8Array>,
    options: UploadOptions = {},
  ): Promise<Uploaded> {
    return uploadFile(this.#pipeline(), path, content, options);
  }

  /** Streams a file, a range of one, or a directory as an archive out of the cell. */
  async download(path: string, options: DownloadOptions = {}): Promise<Downloaded> {
    return downloadFile(this.#pipeline(), path, options);
  }

  async openTerminal(options: TerminalOptions = {}): Promise<Terminal> {
    return openTerminal(this.#pipeline(), options);
  }

  /** One connection to a port of the cell's own loopback. `ports.forward` serves many. */
  async connect(port: number): Promise<NodeJS.ReadWriteStream> {
    return (await openPort(this.#pipeline(), port))();
  }

  /** Runs a command in a persistent shell. A command that fails is a result, not an error. */
  run(command: string, options: RunOptions = {}): Promise<Observation<'run'>> {
    const { onOutput, signal, ...rest } = options;
    const { defaults = {} } = this.#parts;
    const limits = {
      timeoutMs: rest.timeoutMs ?? defaults.timeoutMs,
      noChangeTimeoutMs: rest.noChangeTimeoutMs ?? defaults.noChangeTimeoutMs,
    };
    return this.execute({ action: 'run', command, ...rest, ...limits }, toContext({ onOutput, signal }));
  }

  read(path: string, options: ActionOptions<'read', 'path'> = {}): Promise<Observation<'read'>> {
    return this.execute({ action: 'read', path, ...options });
  }

  /** Writes a file whole, or appends to it. */
  write(
    path: string,
    content: string | Uint8Array,
    options: ActionOptions<'write', 'path' | 'content' | 'encoding'> = {},
  ): Promise<Observation<'write'>> {
    const body =
      typeof content === 'string'
        ? { content }
        : { content: Buffer.from(content).toString('base64'), encoding: 'base64' as const };
    return this.execute({ action: 'write', path, ...body, ...options });
  }

  /** Changes a text file exactly; the answer carries a diff. */
  edit(
    path: string,
    change: EditStep | { edits: EditStep[] } | { undo: true },
  ): Promise<Observation<'edit'>> {
    return this.execute({ action: 'edit', path, ...change });
  }

  /** What the cell uses, the state of its pool if it has one, and what its network carried. */
  async stats(): Promise<
    Observation<'stats'> & { readonly pool?: PoolStats; readonly network?: NetworkStats }
  > {
    const observation = await this.execute({ action: 'stats' });
    const pool = this.#parts.cell.poolStats?.();
    const network = this.#parts.cell.network?.stats();
    return {
      ...observation,
      ...(pool !== undefined && { pool }),
      ...(network !== undefined && { network }),
    };
  }

  /** What the cell uses, for those who only look: the record has nothing of it. */
  glance(): Promise<Observation<'stats'>> {
    return this.#open().execute<'stats'>({ action: 'stats' });
  }

  /** Keeps the files of the workspace as they are now; everything in the cell pauses meanwhile. */
  async checkpoint(label?: string, options?: CheckpointOptions): Promise<Checkpoint> {
    return this.#history().take(label, options);
  }

  /** The kept checkpoints, the oldest first. */
  checkpoints(): Checkpoint[] {
    return this.#history().list();
  }

  /** Removes a checkpoint. */
  async dropCheckpoint(checkpoint: string | Checkpoint): Promise<void> {
    this.#history().drop(checkpoint);
  }

  /**
   * Puts the files of the workspace back to a checkpoint, and keeps the present ones as another checkpoint. Processes
   * continue. With `recovery: false` it keeps nothing, and reads the whole workspace to find what differs.
   */
  async rewind(to: string | Checkpoint, options?: CheckpointOptions): Promise<Rewound>;
  async rewind(to: string | Checkpoint, options: RewindOptions): Promise<Pick<Rewound, 'changes'>>;
  async rewind(to: string | Checkpoint, options?: Partial<RewindOptions>): Promise<Partial<Rewound>> {
    return this.#masked(await this.#history().rewind(to, options));
  }

  /** Starts separate runtimes with the files of this one, as they are now or at a checkpoint. You close them. */
  async fork(options: ForkOptions = {}): Promise<Runtime[]> {
    return this.#history().fork<Runtime>(options);
  }

  /** What differs between two states. Default: from where the workspace began to now. */
  async diff(
    before?: WorkspaceState,
    after: WorkspaceState = this,
    options?: CheckpointOptions,
  ): Promise<WorkspaceChange[]> {
    return this.#masked(await this.#history().diff(before, after, options));
  }

  /**
   * Writes what changed since the workspace began to a directory of this machine. A change that others made there
   * meanwhile is a conflict; it overwrites none unless you say so.
   */
  async apply(directory: string, options: ApplyOptions = {}): Promise<TakenOver> {
    return this.#masked(await this.#history().apply(directory, this, options));
  }

  /** Takes over what changed in another runtime since the last checkpoint that both have. */
  async merge(other: Runtime, options: TakeOverOptions = {}): Promise<TakenOver> {
    return this.#masked(await this.#history().merge(other, options));
  }

  /** Pauses everything in the cell until `resume`, where the backend can. Actions wait meanwhile. */
  async pause(): Promise<void> {
    this.#open();
    await this.#able('pause')();
  }

  async resume(): Promise<void> {
    this.#open();
    await this.#able('resume')();
  }

  /** Ends everything in the cell and leaves nothing behind. Succeeds when called twice. */
  close(): Promise<void> {
    const message = `Cell ${this.id} was stopped.`;
    this.#closing ??= this.#leave(() => this.#parts.cell.stop(), {
      status: 'STOPPED',
      level: 'info',
      message,
    });
    return this.#closing;
  }

  /**
   * Releases a cell that you started with `keepAlive` and leaves everything in it running: `attachRuntime` attaches
   * to it by the id of this runtime. Closing afterwards does nothing.
   */
  async detach(): Promise<void> {
    const detach = this.#able('detach');
    const message = `Cell ${this.id} goes on by itself.`;
    this.#closing ??= this.#leave(detach, { status: 'DETACHED', level: 'info', message });
    return this.#closing;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** Paths and patches come from the cell. */
  async #masked<Value>(shown: Value): Promise<Value> {
    const { mask } = this.#parts;
    return mask === undefined ? shown : mask.observation(shown);
  }

  #able(what: 'pause' | 'resume' | 'detach'): () => Promise<void> {
    const { cell } = this.#parts;
    if (cell[what] !== undefined) return cell[what].bind(cell);
    const advice = what === 'detach' ? ' Start it with keepAlive, on a backend that has it.' : '';
    throw new WorkcellError(
      'capability-unsupported',
      `This cell of backend "${this.backend}" cannot ${what}.${advice}`,
      { details: { backend: this.backend, capability: what } },
    );
  }

  async #leave(letGo: () => Promise<void>, last: StatusUpdate): Promise<void> {
    try {
      await this.ports.closeAll();
      await letGo();
    } finally {
      this.#setStatus(last);
      await this.#parts.events.close();
      this.#parts.release?.();
    }
  }

  /** How the verbs reach a pipeline: the runtime's own, or the one for the steps of a verb. */
  #callIn(pipeline: () => Pipeline): OwnRuntime {
    return {
      workspace: this.workspace,
      ports: this.ports,
      execute: async (action, context = {}) => executeAction(pipeline(), action, context),
      perform: async (asked, work) =>
        performVerb(pipeline(), asked, ({ guards }) =>
          work(this.#callIn(() => ({ ...this.#pipeline(), guards }))),
        ),
      executeShowing: async (action, shown) => executeAction(pipeline(), action, {}, { shown }),
      executeForOwner: async (action, shown) => executeForOwner(pipeline(), action, shown),
      startWithSecret: (action, secret) => this.#startWithSecret(pipeline(), action, secret),
      report: (update) => {
        if (this.#closing === undefined) this.#setStatus(update);
      },
      upload: async (path, content, options = {}) => uploadFile(pipeline(), path, content, options),
      download: async (path, options = {}) => downloadFile(pipeline(), path, options),
      openTerminal: async (options = {}) => openTerminal(pipeline(), options),
    };
  }

  /** Add the secret after judging and recording the action. */
  async #startWithSecret(
    pipeline: Pipeline,
    action: ActionInput<'start_process'> & { action: 'start_process' },
    { name, host, stdin }: SecretInput,
  ): Promise<Observation<'start_process'>> {
    const { credential } = this.#parts;
    const prepare: Pipeline['prepare'] = async (judged, definition) => {
      if (credential === undefined) throw unknownSecret(name);
      const prepared = (await pipeline.prepare?.(judged, definition)) ?? judged;
      return { ...prepared, stdin: stdin(await credential(name, host)) };
    };
    return executeAction<'start_process'>({ ...pipeline, prepare }, action, {});
  }

  #pipeline(): Pipeline {
    const { events, guards, mask, prepare, before, audit, logger } = this.#parts;
    const { id: cell, workspace } = this;
    const shells = this.#shells;
    return {
      executor: this.#open(),
      events,
      cell,
      workspace,
      shells,
      guards,
      mask,
      prepare,
      before,
      audit,
      logger,
      network: this.network,
    };
  }

  #history(): RuntimeCheckpoints {
    this.#open();
    return historyOf(this);
  }

  #open() {
    if (this.#closing === undefined) return this.#parts.cell.executor;
    throw new WorkcellError('runtime-closed', `Runtime ${this.id} is closed; create a new one.`, {
      details: { runtimeId: this.id },
    });
  }

  #setStatus(update: StatusUpdate): void {
    this.#status = update.status;
    this.#parts.events.append({ kind: 'status', status: update }, 'environment');
    this.#parts.onStatus?.(update);
  }
}

/** With the verbs that plugins bring; they merge their types into that interface. */
export interface Runtime extends RuntimeVerbs {}

function unknownSecret(name: string): WorkcellError {
  return new WorkcellError(
    'denied',
    `There is no secret ${JSON.stringify(name)}; give it to createRuntime as secrets, with the hosts that may get it.`,
    { details: { secret: name } },
  );
}
