/** What went through the server, in order, as JSON, kept within a number and a size. */
import type { Outcome } from './server-call.js';
import { Wakers } from './wakers.js';

const keptEvents = 1000;
const keptBytes = 8 * 1024 * 1024;

/** Leave out the content of a larger event; the client that asked for it has it. */
const largestContent = 64 * 1024;

export interface LoggedEvent {
  readonly id: number;
  readonly json: string;
}

export class EventLog {
  readonly #runtimeId: string;
  readonly #wakers = new Wakers();
  #kept: LoggedEvent[] = [];
  #bytes = 0;
  #last = 0;
  #closed = false;

  constructor(runtimeId: string) {
    this.#runtimeId = runtimeId;
  }

  get closed(): boolean {
    return this.#closed;
  }

  /** Id of the newest event. */
  get last(): number {
    return this.#last;
  }

  /** Records an action. Returns the id of its event. */
  action(action: { action: string }): number {
    // A large action is rare; asking for its size costs as much as sending it again.
    const json = JSON.stringify(action);
    const content =
      json.length > largestContent ? JSON.stringify({ action: action.action, omitted: json.length }) : json;
    return this.#append('agent', `"kind":"action","action":${content}`);
  }

  outcome(cause: number, name: string, { kind, body }: Outcome): void {
    const text = body.length > largestContent ? undefined : body.toString();
    if (kind === 'error') {
      const error =
        text === undefined ? '{"code":"internal","message":"omitted"}' : text.slice('{"error":'.length, -1);
      this.#append('environment', `"kind":"error","cause":${cause},"error":${error}`);
      return;
    }
    const observation = text ?? JSON.stringify({ observation: name, omitted: body.length });
    this.#append('environment', `"kind":"observation","cause":${cause},"observation":${observation}`);
  }

  /** The first kept event after a cursor; an id that skips numbers tells that it dropped some. */
  after(cursor: number): LoggedEvent | undefined {
    const first = this.#last - this.#kept.length + 1;
    return this.#kept[Math.max(0, cursor + 1 - first)];
  }

  /** Resolves when there is a new event, when the log closes, after a time, or when the signal aborts. */
  change(timeoutMs: number, signal: AbortSignal): Promise<void> {
    return this.#wakers.wait(timeoutMs, signal);
  }

  close(): void {
    this.#closed = true;
    this.#wakers.wake();
  }

  #append(source: string, fields: string): number {
    const id = ++this.#last;
    const head = `{"id":${id},"at":${Date.now()},"runtimeId":${JSON.stringify(this.#runtimeId)},"source":"${source}",`;
    const json = `${head}${fields}}`;
    this.#kept.push({ id, json });
    this.#bytes += json.length;
    while (this.#kept.length > 1 && (this.#kept.length > 2 * keptEvents || this.#bytes > keptBytes))
      this.#drop();
    this.#wakers.wake();
    return id;
  }

  /** Dropping rarely and by many keeps the cost of each event constant. */
  #drop(): void {
    const count = Math.max(1, Math.min(keptEvents, Math.floor(this.#kept.length / 2)));
    for (const { json } of this.#kept.slice(0, count)) this.#bytes -= json.length;
    this.#kept = this.#kept.slice(count);
  }
}
