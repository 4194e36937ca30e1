/** Reaches an executor behind HTTP: the same interface, over any stream of bytes. */

import { randomUUID } from 'node:crypto';
import type { Duplex } from 'node:stream';
import { parseJson } from '../../base/json.js';
import {
  type Action,
  type ActionName,
  type ActionTable,
  type Capability,
  actions as coreActions,
  type Downloaded,
  type DownloadOptions,
  describeIssues,
  type ErrorBody,
  type ExecuteContext,
  type Executor,
  errorSchema,
  type Observation,
  type Progress,
  parseObservation,
  progressSchema,
  type Terminal,
  type TerminalOptions,
  type Uploaded,
  type UploadOptions,
  WorkcellError,
} from '../../protocol/index.js';
import {
  framesType,
  keyHeader,
  maxObservationBytes,
  type Readiness,
  readinessSchema,
  type ServerInfo,
} from '../../protocol/wire.js';
import { toError } from './client-failures.js';
import { download, upload } from './client-files.js';
import { openTerminal } from './client-terminal.js';
import type { Place } from './connect-ways.js';
import { connectToPort } from './port.js';
import { readText } from './read-body.js';
import { Link, type LinkOptions } from './server-link.js';
import { Frames } from './wire-frames.js';

/** How long a server may take to end a cancelled action, and to end everything. */
const cancelMs = 15_000;
const closeMs = 15_000;
/**
 * How long after the deadline of an action its executor can take to end it and to say so. An action outside a shell
 * may have to start a program first, and its deadline counts from then.
 */
const overdueMs = 10_000;
/** How long after that deadline it may take to show that it is there at all. */
const signOfLifeMs = 1000;
const overdueAfterStartMs = 150_000;
const longestTimerMs = 2 ** 31 - 1;

export interface HttpExecutorOptions extends LinkOptions {
  readonly signal?: AbortSignal | undefined;
  /** What the executor can do, when it has plugins. */
  readonly actions?: ActionTable | undefined;
  /** Largest line in bytes to accept from the server. */
  readonly maxObservationBytes?: number | undefined;
}

/** Connects to the server at a place and checks that both speak the same version. */
export async function connectExecutor(
  place: Place,
  options: HttpExecutorOptions = {},
): Promise<{ executor: HttpExecutor; info: ServerInfo }> {
  const link = new Link(place, options);
  try {
    const info = await link.handshake(options.signal);
    return { executor: new HttpExecutor(link, options), info };
  } catch (error) {
    await link.close(0);
    throw error;
  }
}

export class HttpExecutor implements Executor {
  readonly actions: ActionTable;
  readonly #link: Link;
  readonly #limitBytes: number;
  readonly #client: string | undefined;
  #closing: Promise<void> | undefined;

  constructor(link: Link, options: HttpExecutorOptions) {
    this.#link = link;
    this.actions = options.actions ?? coreActions;
    this.#client = options.client;
    this.#limitBytes = options.maxObservationBytes ?? maxObservationBytes;
  }

  /** Resolves with the reason when the server is out of reach for good. */
  get lost(): Promise<string> {
    return this.#link.lost;
  }

  async execute<Name extends ActionName>(
    action: Action<Name>,
    context: ExecuteContext = {},
  ): Promise<Observation<Name>> {
    this.#checkOpen();
    const { signal } = context;
    if (signal?.aborted)
      throw new WorkcellError('cancelled', `The ${action.action} was cancelled before it began.`);
    const key = randomUUID();
    const cancelled = signal === undefined ? undefined : this.#cancelOn(signal, key);
    const overdue = this.#overdue(action);
    const others = [cancelled?.late, overdue?.late].filter((late) => late !== undefined);
    const abandoned = others.length === 0 ? undefined : new AbortController();
    try {
      const following = this.#follow<Name>(key, action, context, abandoned?.signal);
      return await (others.length === 0 ? following : Promise.race([following, ...others]));
    } catch (error) {
      const refused = isRefusal(error) && (error.code !== 'cancelled' || signal?.aborted);
      if (!refused) this.#checkOpen();
      throw error;
    } finally {
      cancelled?.release();
      overdue?.release();
      abandoned?.abort();
    }
  }

  upload(path: string, content: AsyncIterable<Uint8Array>, options: UploadOptions = {}): Promise<Uploaded> {
    return this.#whenOpen(() => upload(this.#link, path, content, options));
  }

  download(path: string, options: DownloadOptions = {}): Promise<Downloaded> {
    return this.#whenOpen(() => download(this.#link, path, options));
  }

  openTerminal(options: TerminalOptions = {}): Promise<Terminal> {
    return this.#whenOpen(() => openTerminal(this.#link, options));
  }

  /** Works without its object, because callers check that it exists before they call it. */
  readonly connect = (port: number): Promise<Duplex> => this.#whenOpen(() => connectToPort(this.#link, port));

  /** Whether each capability of the cell works. */
  async readiness(): Promise<Readiness> {
    return this.#link.retrying(async () => {
      const { body } = await this.#link.request({ method: 'GET', path: '/ready', accept: 503 });
      return readinessSchema.parse(parseJson(await readText(body, this.#limitBytes)));
    });
  }

  async capabilities(): Promise<Capability[]> {
    return (await this.readiness()).capabilities;
  }

  /** Ends everything in the cell, or what this client started if it shares the cell, and disconnects. */
  close(): Promise<void> {
    this.#closing ??= (async () => {
      // A server that has ended has nothing left to end.
      const request =
        this.#client === undefined
          ? ({ method: 'POST', path: '/v1/close' } as const)
          : ({ method: 'DELETE', path: `/v1/clients/${this.#client}` } as const);
      await this.#link.request({ ...request, answerMs: closeMs }).catch(() => {});
      await this.#link.close(closeMs);
    })();
    return this.#closing;
  }

  /** Disconnects and leaves everything in the cell running. */
  disconnect(): Promise<void> {
    this.#closing ??= this.#link.close(0);
    return this.#closing;
  }

  /** Reads an action's lines to the end, and continues after each lost connection at the byte where it broke off. */
  #follow<Name extends ActionName>(
    key: string,
    action: Action<Name>,
    { onProgress }: ExecuteContext,
    signal: AbortSignal | undefined,
  ): Promise<Observation<Name>> {
    const body = JSON.stringify(action);
    const frames = new Frames(this.#limitBytes);
    return this.#link.retrying(async (alive) => {
      const request =
        frames.position === 0
          ? startRequest(key, body, onProgress !== undefined)
          : resumeRequest(key, frames.position);
      const answer = await this.#link.request({ ...request, signal });
      let outcome: Observation<Name> | WorkcellError | undefined;
      for await (const chunk of answer.body) {
        alive();
        // Only the end follows the outcome; read it, so that we can reuse the connection.
        if (outcome !== undefined) break;
        for (const message of frames.take(chunk as Buffer)) {
          if ('observation' in message)
            outcome = parseObservation(action.action as Name, message.observation, this.actions);
          if ('error' in message) outcome = toError(parseError(message.error));
          if (outcome !== undefined) break;
          const held = onProgress?.(parseProgress('progress' in message ? message.progress : undefined));
          if (held !== undefined) await held;
        }
      }
      if (outcome === undefined) throw new Error('the stream ended before the observation');
      if (outcome instanceof WorkcellError) throw outcome;
      return outcome;
    }, signal);
  }

  /** The executor keeps the deadline of an action; do not wait for one that does not. */
  #overdue(action: Action): { late: Promise<never>; release(): void } | undefined {
    const timeoutMs = 'timeoutMs' in action ? action.timeoutMs : undefined;
    if (typeof timeoutMs !== 'number') return undefined;
    const allowedMs = action.action === 'run' ? overdueMs : overdueAfterStartMs;
    const released = new AbortController();
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_resolve, reject) => {
      const arm = (delayMs: number, next: () => void) => {
        timer = setTimeout(
          () => {
            // A paused cell cannot end anything, so wait until it resumes.
            const halted = this.#link.halted();
            if (halted === undefined) next();
            else void halted.then(() => released.signal.aborted || arm(0, ask));
          },
          Math.min(delayMs, longestTimerMs),
        );
      };
      const ask = () => {
        let isThere = false;
        this.#link.request({ method: 'GET', path: '/alive', signal: released.signal }).then(
          ({ body }) => {
            isThere = true;
            body.resume();
          },
          // The action itself retries a failed connection.
          () => {
            isThere = true;
          },
        );
        arm(signOfLifeMs, () => {
          if (isThere) arm(allowedMs - signOfLifeMs, () => fail(allowedMs));
          else fail(signOfLifeMs);
        });
      };
      const fail = (afterMs: number) =>
        reject(
          new WorkcellError(
            'timed-out',
            `The executor did not end an action at its deadline of ${timeoutMs} ms, and has not said so ${afterMs} ms later.`,
            { details: { timeoutMs } },
          ),
        );
      arm(timeoutMs, ask);
    });
    late.catch(() => {});
    return {
      late,
      release() {
        released.abort();
        clearTimeout(timer);
      },
    };
  }

  /** Tells the server when the signal aborts; `late` rejects when it does not react in time. */
  #cancelOn(signal: AbortSignal, key: string): { late: Promise<never>; release(): void } {
    let timer: NodeJS.Timeout | undefined;
    let onAbort = () => {};
    const late = new Promise<never>((_resolve, reject) => {
      onAbort = () => {
        const request = () => this.#link.request({ method: 'DELETE', path: `/v1/actions/${key}` });
        // If the server is out of reach, the action itself has the same problem and reports it.
        this.#link.retrying(request).catch(() => {});
        timer = setTimeout(() => {
          reject(
            new WorkcellError('cancelled', 'The action was cancelled; the server has not confirmed it.'),
          );
        }, cancelMs);
      };
      signal.addEventListener('abort', onAbort, { once: true });
    });
    late.catch(() => {});
    return {
      late,
      release() {
        clearTimeout(timer);
        signal.removeEventListener('abort', onAbort);
      },
    };
  }

  async #whenOpen<T>(work: () => Promise<T>): Promise<T> {
    this.#checkOpen();
    return work();
  }

  #checkOpen(): void {
    if (this.#closing === undefined) return;
    throw new WorkcellError('runtime-closed', 'The cell is closed; start a new one.');
  }
}

function startRequest(key: string, body: string, withProgress: boolean) {
  return {
    method: 'POST' as const,
    path: withProgress ? '/v1/actions' : '/v1/actions?progress=0',
    headers: { accept: framesType, 'content-type': 'application/json', [keyHeader]: key },
    body,
  };
}

function resumeRequest(key: string, position: number) {
  return {
    method: 'GET' as const,
    path: `/v1/actions/${key}?from=${position}`,
    headers: { accept: framesType },
  };
}

function parseError(value: unknown): ErrorBody {
  return errorSchema
    .catch({ code: 'internal', message: 'The server failed and did not say why.' })
    .parse(value);
}

function parseProgress(value: unknown): Progress {
  const result = progressSchema.safeParse(value);
  if (result.success) return result.data;
  throw new WorkcellError(
    'internal',
    `The server reported something that is not valid: ${describeIssues(result.error)}.`,
  );
}

/** Whether the cell itself caused this error, rather than the connection to it. */
function isRefusal(error: unknown): error is WorkcellError {
  return WorkcellError.isInstance(error) && error.code !== 'runtime-disconnected';
}
