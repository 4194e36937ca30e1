/** The shell sessions of a cell by name. */
import {
  type Action,
  type ExecuteContext,
  type Observation,
  WorkcellError,
} from '../../../protocol/index.js';
import { Session, type SessionParts } from './shell-session.js';

export class Shells {
  readonly #parts: SessionParts;
  readonly #sessions = new Map<string, Session>();

  constructor(parts: SessionParts) {
    this.#parts = parts;
  }

  /** A session begins with the first command that names it. */
  run(action: Action<'run'>, context: ExecuteContext): Promise<Observation<'run'>> {
    let session = this.#sessions.get(action.session);
    if (session === undefined) {
      if (action.input || action.command.trim() === '') throw this.#notFound(action.session);
      session = new Session(action.session, this.#parts);
      this.#sessions.set(action.session, session);
    }
    return session.run(action, context);
  }

  list(): Observation<'list_sessions'>['sessions'] {
    return [...this.#sessions.values()].map(({ name, cwd, current, pid }) => ({
      session: name,
      cwd,
      running: current,
      ...(pid !== undefined && { pid }),
    }));
  }

  async closeSession(name: string): Promise<void> {
    const session = this.#sessions.get(name);
    if (session === undefined) throw this.#notFound(name);
    this.#sessions.delete(name);
    await session.close();
  }

  async close(): Promise<void> {
    const sessions = [...this.#sessions.values()];
    this.#sessions.clear();
    await Promise.all([...sessions.map((session) => session.close()), this.#parts.spare?.close()]);
  }

  #notFound(name: string): WorkcellError {
    const known = [...this.#sessions.keys()].map((session) => `"${session}"`).join(', ') || 'none';
    return new WorkcellError('session-not-found', `There is no session "${name}". Open sessions: ${known}.`, {
      details: { session: name },
    });
  }
}
