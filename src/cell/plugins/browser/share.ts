/** Lets others speak to a browser over the pipe that one already uses, each as if it were alone. */
import type { MessagePipe } from './pipe.js';

type Message = Readonly<{
  id?: number;
  sessionId?: string;
  method?: string;
  params?: Readonly<Record<string, unknown>>;
  result?: Readonly<Record<string, unknown>>;
}>;

/** The first speaker counts its questions from 1; those of the others are counted from here. */
const firstId = 1_000_000_000;

export interface Guest {
  send(message: object): void;
  close(): void;
}

export class SharedPipe implements MessagePipe {
  readonly #pipe: MessagePipe;
  readonly #questions = new Map<number, (message: Message) => void>();
  /** Which guest hears of a session. */
  readonly #sessions = new Map<string, (message: Message) => void>();
  readonly #guests = new Set<() => void>();
  #lastId = firstId;
  onmessage?: (message: object) => void;
  onclose?: (reason?: string) => void;

  constructor(pipe: MessagePipe) {
    this.#pipe = pipe;
    pipe.onmessage = (message) => this.#route(message);
    pipe.onclose = (reason) => {
      for (const leave of [...this.#guests]) leave();
      this.onclose?.(reason);
    };
  }

  send(message: object): void {
    this.#pipe.send(message);
  }

  close(): void {
    this.#pipe.close();
  }

  /** One more speaker, with a session of its own at the browser. */
  async invite(hear: (message: object) => void, leave: () => void): Promise<Guest> {
    const own = new Set<string>();
    const { result } = await this.#ask({ method: 'Target.attachToBrowserTarget' });
    const root = result?.sessionId;
    if (typeof root !== 'string') throw new Error('The browser takes no more speakers.');
    const listen = (message: Message) => {
      const session = message.params?.sessionId;
      if (message.method === 'Target.attachedToTarget' && typeof session === 'string') {
        own.add(session);
        this.#sessions.set(session, listen);
      }
      if (message.method === 'Target.detachedFromTarget' && typeof session === 'string') {
        own.delete(session);
        this.#sessions.delete(session);
      }
      hear(withoutSession(message, root));
    };
    own.add(root);
    this.#sessions.set(root, listen);
    const gone = () => {
      this.#guests.delete(gone);
      for (const session of own) this.#sessions.delete(session);
      leave();
    };
    this.#guests.add(gone);
    return {
      send: (message) => this.#pass(message as Message, root, own, hear),
      close: () => {
        if (!this.#guests.has(gone)) return;
        gone();
        this.#pipe.send({
          id: ++this.#lastId,
          method: 'Target.detachFromTarget',
          params: { sessionId: root },
        });
      },
    };
  }

  #pass(message: Message, root: string, own: ReadonlySet<string>, hear: (message: object) => void): void {
    const { id, sessionId = root, method, params } = message;
    if (!own.has(sessionId)) {
      const error = { code: -32_001, message: 'There is no such session.' };
      hear({ id, ...(message.sessionId === undefined ? {} : { sessionId }), error });
      return;
    }
    void this.#ask({ sessionId, method, params }).then((answer) =>
      hear(withoutSession({ ...answer, ...(id === undefined ? {} : { id }) }, root)),
    );
  }

  #ask(question: object): Promise<Message> {
    const id = ++this.#lastId;
    return new Promise((resolve) => {
      this.#questions.set(id, resolve);
      this.#pipe.send({ id, ...question });
    });
  }

  #route(message: Message): void {
    const { id, sessionId } = message;
    if (id !== undefined && id > firstId) {
      this.#questions.get(id)?.(message);
      this.#questions.delete(id);
      return;
    }
    const guest = id === undefined && sessionId !== undefined ? this.#sessions.get(sessionId) : undefined;
    if (guest === undefined) this.onmessage?.(message);
    else guest(message);
  }
}

/** A guest's own session is what it takes for the browser itself. */
function withoutSession(message: Message, root: string): object {
  if (message.sessionId !== root) return message;
  const { sessionId: _, ...rest } = message;
  return rest;
}
