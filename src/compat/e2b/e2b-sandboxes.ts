/** Leads a request inside a sandbox to its cell: who may use it, whether it runs, and what it holds open. */
import { createHash, timingSafeEqual } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Log } from '../../base/http/http-options.js';
import type { Runtime } from '../../index.js';
import type { Executor } from '../../protocol/index.js';
import { whenOver } from '../../service/service-access.js';
import type { ServiceParts } from '../../service/service-app.js';
import type { CellRecord, KeyRecord } from '../../service/service-store.js';
import { SandboxLog } from './control/sandbox-log.js';
import { E2bError } from './e2b-errors.js';
import { type Sandbox, type SandboxTokens, sandboxOf } from './e2b-sandbox.js';
import { FileMetadata } from './envd/file-metadata.js';
import { Processes } from './envd/processes.js';
import { Watchers } from './envd/watchers.js';
import { Interpreter } from './interpreter/code-contexts.js';

/** A sandbox that a request works in. */
export interface OpenSandbox extends Sandbox {
  /** Judges and records, as every way in. */
  readonly runtime: Runtime;
  readonly executor: Executor;
  /** As seen from inside: what clients call the home directory. */
  readonly home: string;
  readonly state: SandboxState;
}

/** What lives with a sandbox in this process. */
export interface SandboxState {
  readonly processes: Processes;
  readonly watchers: Watchers;
  readonly metadata: FileMetadata;
  readonly interpreter: Interpreter;
  readonly log: SandboxLog;
  /** Streams under way. */
  readonly streams: Set<() => void>;
}

/** Whoever looks at a sandbox gets tokens, and some requests compare those of all sandboxes. The newest keys count. */
const mostKeys = 32;

export class Sandboxes {
  readonly #parts: ServiceParts;
  readonly #states = new Map<string, SandboxState>();
  /** The keys behind the tokens that requests brought. */
  readonly #admitted = new WeakMap<FastifyRequest, KeyRecord>();

  constructor(parts: ServiceParts) {
    this.#parts = parts;
  }

  get log(): Log {
    return this.#parts.log;
  }

  /** The cell that a request names. Older clients add the id of a client to that of the sandbox. */
  find(id: string): Sandbox | undefined {
    const record = this.#parts.cells.byId(id.split('-')[0] ?? '');
    return record === undefined ? undefined : sandboxOf(record, this.#parts.secret);
  }

  /** The sandbox of a cell that this protocol created. */
  of(record: CellRecord): Sandbox {
    return sandboxOf(record, this.#parts.secret) as Sandbox;
  }

  all(): Sandbox[] {
    return this.#parts.cells
      .list(undefined)
      .map((record) => sandboxOf(record, this.#parts.secret))
      .filter((sandbox) => sandbox !== undefined);
  }

  /** The tokens of a key that may use the sandbox. */
  async tokensFor({ record }: Sandbox, { id: key }: KeyRecord): Promise<SandboxTokens> {
    // Another request may have changed the record since this one read it.
    const own = this.of(this.#parts.cells.byId(record.id) ?? record).tokens.get(key);
    if (own !== undefined) return own;
    const amended = await this.#parts.cells.amend(record.id, (current) => {
      const { facts } = this.of(current);
      const holding = facts.openedBy.filter(
        (other) => other !== key && this.#parts.keys.find(other) !== undefined,
      );
      return { facade: { ...facts, openedBy: [...holding.slice(1 - mostKeys), key] } };
    });
    return this.of(amended).tokens.get(key) as SandboxTokens;
  }

  /**
   * Whether a request has a token that a key got, and the key still holds. When the key ends during the request, the request
   * is cut off.
   */
  admits(
    { tokens }: Sandbox,
    kind: keyof SandboxTokens,
    has: (token: string) => boolean,
    request: FastifyRequest,
    reply: FastifyReply,
  ): boolean {
    for (const [id, token] of tokens) {
      if (!has(token[kind])) continue;
      const key = this.#parts.keys.find(id);
      if (key === undefined) return false;
      this.#admitted.set(request, key);
      const { socket } = request.raw;
      whenOver(
        request,
        reply,
        this.#parts.keys.track(key, () => socket.destroy()),
      );
      return true;
    }
    return false;
  }

  /** Opens a sandbox for the time of a request. Resumes a paused one only if its creation said so. */
  async open(id: string, request: FastifyRequest, reply: FastifyReply): Promise<OpenSandbox> {
    const sandbox = this.running(id);
    const { record } = sandbox;
    const { cells, requests } = this.#parts;
    whenOver(request, reply, requests.enterCell(record, this.#admitted.get(request)));
    const { context, done } = await cells.use(record.tenant, record.id);
    whenOver(request, reply, done);
    // A service gives each of its cells a runtime.
    const runtime = context.executor() as Runtime;
    return {
      ...sandbox,
      runtime,
      executor: runtime,
      home: record.workspace ?? '/workspace',
      state: this.stateOf(record.id),
    };
  }

  /** Throws 502, from which clients conclude that it does not run. */
  running(id: string): Sandbox {
    const found = this.find(id);
    const { state } = found?.record ?? {};
    const runs = state === 'running' || (state === 'paused' && found?.facts.autoResume === true);
    if (found === undefined || !runs || this.#parts.cells.isEnding(found.record.id))
      throw new E2bError(502, 'The sandbox was not found', { sandboxId: id });
    return found;
  }

  stateOf(id: string): SandboxState {
    const known = this.#states.get(id);
    if (known !== undefined) return known;
    this.#prune();
    const state: SandboxState = {
      processes: new Processes(),
      watchers: new Watchers(),
      metadata: new FileMetadata(),
      interpreter: new Interpreter(),
      log: new SandboxLog(),
      streams: new Set(),
    };
    this.#states.set(id, state);
    return state;
  }

  /** Cuts off all listeners: a client then asks whether the sandbox still runs. */
  cut(id: string): void {
    for (const end of this.#states.get(id)?.streams ?? []) end();
  }

  forget(id: string): void {
    const state = this.#states.get(id);
    if (state === undefined) return;
    this.cut(id);
    state.watchers.close();
    this.#states.delete(id);
  }

  /** Sandboxes also end by themselves. */
  #prune(): void {
    for (const id of this.#states.keys()) if (this.find(id) === undefined) this.forget(id);
  }
}

/** Compares digests, so that neither content nor length shows in the time it takes. */
export function isSame(given: unknown, expected: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return typeof given === 'string' && timingSafeEqual(digest(given), digest(expected));
}
