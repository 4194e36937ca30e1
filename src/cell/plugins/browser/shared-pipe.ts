/** Lets several clients share the pipe to one browser, each as if it were alone. */
import type { MessagePipe } from './pipe.js';

type Message = Readonly<{
  id?: number;
  sessionId?: string;
  method?: string;
  params?: Readonly<Record<string, unknown>>;
  result?: Readonly<Record<string, unknown>>;
}>;

/** The driver numbers its requests from 1; we number requests of other clients from here. */
const firstId = 1_000_000_000;

export interface PipeClient {
  send(message: object): void;
  close(): void;
}

export class SharedPipe implements MessagePipe {
  readonly #pipe: MessagePipe;
  readonly #requests = new Map<number, (message: Message) => void>();
  /** Which client receives the messages of a session. */
  readonly #sessions = new Map<string, (message: Message) => void>();
  readonly #clients = new Set<() => void>();
  #lastId = firstId;
  onmessage?: (message: object) => void;
  onclose?: (reason?: string) => void;

  constructor(pipe: MessagePipe) {
    this.#pipe = pipe;
    pipe.onmessage = (message) => this.#route(message);
    pipe.onclose = (reason) => {
      for (const onClose of [...this.#clients]) onClose();
      this.onclose?.(reason);
    };
  }

  send(message: object): void {
    this.#pipe.send(message);
  }

  close(): void {
    this.#pipe.close();
  }

  /** Attaches one more client, with its own browser session. */
  async attachClient(onMessage: (message: object) => void, onClose: () => void): Promise<PipeClient> {
    const own = new Set<string>();
    const { result } = await this.#ask({ method: 'Target.attachToBrowserTarget' });
    const root = result?.sessionId;
    if (typeof root !== 'string') throw new Error('The browser accepts no more clients.');
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
      onMessage(withoutSession(message, root));
    };
    own.add(root);
    this.#sessions.set(root, listen);
    const gone = () => {
      this.#clients.delete(gone);
      for (const session of own) this.#sessions.delete(session);
      onClose();
    };
    this.#clients.add(gone);
    return {
      send: (message) => this.#pass(message as Message, root, own, onMessage),
      close: () => {
        if (!this.#clients.has(gone)) return;
        gone();
        this.#pipe.send({
          id: ++this.#lastId,
          method: 'Target.detachFromTarget',
          params: { sessionId: root },
        });
      },
    };
  }

  #pass(
    message: Message,
    root: string,
    own: ReadonlySet<string>,
    onMessage: (message: object) => void,
  ): void {
    const { id, sessionId = root, method, params } = message;
    if (!own.has(sessionId)) {
      const error = { code: -32_001, message: 'There is no such session.' };
      onMessage({ id, ...(message.sessionId === undefined ? {} : { sessionId }), error });
      return;
    }
    void this.#ask({ sessionId, method, params }).then((answer) =>
      onMessage(withoutSession({ ...answer, ...(id === undefined ? {} : { id }) }, root)),
    );
  }

  #ask(question: object): Promise<Message> {
    const id = ++this.#lastId;
    return new Promise((resolve) => {
      this.#requests.set(id, resolve);
      this.#pipe.send({ id, ...question });
    });
  }

  #route(message: Message): void {
    const { id, sessionId } = message;
    if (id !== undefined && id > firstId) {
      this.#requests.get(id)?.(message);
      this.#requests.delete(id);
      return;
    }
    const client = id === undefined && sessionId !== undefined ? this.#sessions.get(sessionId) : undefined;
    if (client === undefined) this.onmessage?.(message);
    else client(message);
  }
}

/** A client takes its own session for the browser itself. */
function withoutSession(message: Message, root: string): object {
  if (message.sessionId !== root) return message;
  const { sessionId: _, ...rest } = message;
  return rest;
}
