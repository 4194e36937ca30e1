/** What tools ask of the runtime while they run: actions of the same cell. */
import { type Action, errorSchema, parseAction, WorkcellError } from '../../../protocol/index.js';
import type { PluginCell } from '../plugin.js';
import { mostRequests } from './tool-limits.js';

interface Execute {
  readonly id: number;
  readonly request: number;
  readonly action: unknown;
}

export class Requests {
  readonly #cell: Pick<PluginCell, 'execute'>;
  readonly #running = new Map<number, { call: number; stop: AbortController }>();

  constructor(cell: Pick<PluginCell, 'execute'>) {
    this.#cell = cell;
  }

  /** Carries an action out for an open call. A tool may do the same in its cell anyway. */
  execute({ id, request, action }: Execute, open: boolean, send: (message: unknown) => void): void {
    if (!open || this.#running.has(request)) return;
    if (this.#running.size >= mostRequests) {
      send({ type: 'answer', request, error: toBody(tooMany()) });
      return;
    }
    const stop = new AbortController();
    this.#running.set(request, { call: id, stop });
    void this.#perform(action, stop.signal)
      .then(
        (observation) => send({ type: 'answer', request, observation }),
        (error: unknown) => send({ type: 'answer', request, error: toBody(error) }),
      )
      .finally(() => this.#running.delete(request));
  }

  abandon(request: number): void {
    this.#running.get(request)?.stop.abort();
  }

  abandonCall(call: number): void {
    for (const entry of this.#running.values()) if (entry.call === call) entry.stop.abort();
  }

  abandonAll(): void {
    for (const { stop } of this.#running.values()) stop.abort();
  }

  async #perform(action: unknown, signal: AbortSignal) {
    return await this.#cell.execute(parseAction(action) as Action, { signal });
  }
}

function tooMany(): WorkcellError {
  return new WorkcellError(
    'rate-limited',
    `Tools of one host run ${mostRequests} actions already. Wait until one of them ends.`,
  );
}

function toBody(error: unknown) {
  if (WorkcellError.isInstance(error)) return error.toJSON();
  return errorSchema.parse({
    code: 'internal',
    message: error instanceof Error ? error.message : String(error),
  });
}
