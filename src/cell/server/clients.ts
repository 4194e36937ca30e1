/** Tracks what each client of a shared server started, so that one that leaves ends only its own work. */
import type { Action, Executor, Observation } from '../../protocol/index.js';

/** Forget clients that went away silently in the end; what they started ends with the server. */
const rememberedClients = 10_000;

/** Processes of one client between two looks at which of them still run. */
const processesPerLook = 1000;

interface Work {
  /** Functions that end running actions and terminals. */
  readonly running: Set<() => Promise<unknown>>;
  readonly sessions: Set<string>;
  processes: Set<string>;
}

export class Clients {
  readonly #executor: () => Executor;
  readonly #works = new Map<string, Work>();
  /** Who opened each session first; undefined for requests that name no client. */
  readonly #openers = new Map<string, string | undefined>();

  constructor(executor: () => Executor) {
    this.#executor = executor;
  }

  /** Registers `end` for when the client leaves. Returns the function that removes it again. */
  begin(client: string | undefined, end: () => Promise<unknown>): () => void {
    if (client === undefined) return () => {};
    const { running } = this.#workOf(client);
    running.add(end);
    return () => running.delete(end);
  }

  /** Call it before an action runs, so that two clients cannot both be the first in a session. */
  starts(client: string | undefined, action: Action): void {
    if (action.action !== 'run' || this.#openers.has(action.session)) return;
    this.#openers.set(action.session, client);
    if (client !== undefined) this.#workOf(client).sessions.add(action.session);
  }

  async ended(client: string | undefined, action: Action, observation: Observation): Promise<void> {
    if (action.action === 'close_session') this.#forget(action.session);
    if (client === undefined || observation.observation !== 'start_process') return;
    const work = this.#workOf(client);
    work.processes.add((observation as Observation<'start_process'>).id);
    if (work.processes.size % processesPerLook === 0) work.processes = await this.#alive(work.processes);
  }

  /** Ends everything that a client started. */
  async end(client: string): Promise<void> {
    const work = this.#works.get(client);
    if (work === undefined) return;
    this.#works.delete(client);
    const executor = this.#executor();
    const processes = await this.#alive(work.processes);
    await Promise.allSettled([
      ...[...work.sessions].map((session) => {
        this.#forget(session);
        return executor.execute<'close_session'>({ action: 'close_session', session });
      }),
      ...[...processes].map((id) =>
        executor.execute<'signal_process'>({ action: 'signal_process', id, signal: 'SIGKILL' }),
      ),
    ]);
    // Everything that waited for this work has its answer; cut off the rest.
    await Promise.allSettled([...work.running].map((end) => end()));
  }

  /** Everything has ended. */
  clear(): void {
    this.#works.clear();
    this.#openers.clear();
  }

  #workOf(client: string): Work {
    const known = this.#works.get(client);
    if (known !== undefined) return known;
    const work = {
      running: new Set<() => Promise<unknown>>(),
      sessions: new Set<string>(),
      processes: new Set<string>(),
    };
    this.#works.set(client, work);
    const [oldest] = this.#works.keys();
    if (this.#works.size > rememberedClients && oldest !== undefined) this.#works.delete(oldest);
    return work;
  }

  #forget(session: string): void {
    const opener = this.#openers.get(session);
    if (opener !== undefined) this.#works.get(opener)?.sessions.delete(session);
    this.#openers.delete(session);
  }

  async #alive(ids: ReadonlySet<string>): Promise<Set<string>> {
    if (ids.size === 0) return new Set();
    const { processes } = await this.#executor().execute<'list_processes'>({ action: 'list_processes' });
    return new Set(processes.filter(({ id, running }) => running && ids.has(id)).map(({ id }) => id));
  }
}
