/** The actions of a server by key: those in progress, and the last that ended, for repeated requests. */
import { join } from 'node:path';
import { removeTree } from '../../base/remove-tree.js';
import { WorkcellError } from '../../protocol/index.js';
import { makeScratch } from '../launchers/scratch.js';
import type { Log, ServerLimits } from './executor-server-options.js';
import { Call } from './server-call.js';
import { SpentKeys } from './spent-keys.js';

/** Keys cancelled before their action came, which takes only moments. */
const cancelledKeys = 10_000;

export class Calls {
  readonly #limits: ServerLimits;
  readonly #log: Log;
  readonly #timer: NodeJS.Timeout;
  readonly #running = new Map<string, Call>();
  readonly #ended = new Map<string, Call>();
  /** Keys whose result the server dropped. */
  readonly #spent = new SpentKeys();
  readonly #cancelled = new SpentKeys(cancelledKeys);
  #endedBytes = 0;
  #directory: string | undefined;
  #files = 0;

  constructor(limits: ServerLimits, log: Log) {
    this.#limits = limits;
    this.#log = log;
    this.#timer = setInterval(() => this.#dropOld(), limits.keptMs / 4);
    this.#timer.unref();
  }

  get running(): number {
    return this.#running.size;
  }

  get kept(): number {
    return this.#ended.size;
  }

  /** The call with this key; starts it unless it exists. */
  start(
    key: string,
    fingerprint: string,
    work: ConstructorParameters<typeof Call>[2],
    options: { withProgress: boolean; framed: boolean },
  ): Call {
    const known = this.#running.get(key) ?? this.#ended.get(key);
    if (known !== undefined) return checkSame(known, fingerprint);
    this.#checkUnspent(key);
    if (this.#running.size >= this.#limits.runningActions) {
      throw new WorkcellError(
        'rate-limited',
        `${this.#running.size} actions run, which is the limit; try again when some have ended.`,
      );
    }
    const call = new Call(key, fingerprint, work, {
      ...options,
      file: () => this.#nextFile(),
      graceMs: this.#limits.graceMs,
      log: this.#log,
    });
    this.#running.set(key, call);
    void call.done.then(() => this.#keep(call));
    return call;
  }

  find(key: string): Call {
    const call = this.#running.get(key) ?? this.#ended.get(key);
    if (call !== undefined) return call;
    throw new WorkcellError(
      'output-not-found',
      `There is no action with the key "${key}": it never came, or the server dropped its result.`,
      { details: { key } },
    );
  }

  /** Ends an action. One that has not come yet fails when it does. */
  cancel(key: string): void {
    const call = this.#running.get(key);
    if (call !== undefined) call.cancel();
    else if (!this.#ended.has(key)) this.#cancelled.add(key);
  }

  /** Waits until everything in progress has its outcome. */
  async settled(): Promise<void> {
    await Promise.all([...this.#running.values()].map((call) => call.done));
  }

  close(): void {
    clearInterval(this.#timer);
    for (const call of [...this.#running.values(), ...this.#ended.values()]) call.dispose();
    if (this.#directory !== undefined) removeTree(this.#directory);
  }

  #keep(call: Call): void {
    this.#running.delete(call.key);
    this.#ended.set(call.key, call);
    this.#endedBytes += call.keptBytes;
    this.#dropOld();
  }

  #dropOld(): void {
    const oldest = performance.now() - this.#limits.keptMs;
    for (const [key, ended] of this.#ended) {
      const excess = this.#ended.size > this.#limits.keptActions || this.#endedBytes > this.#limits.keptBytes;
      if (!excess && (ended.endedAt ?? 0) > oldest) break;
      // A reader is still using it, so drop it at a later turn.
      if (ended.watched) continue;
      this.#ended.delete(key);
      this.#endedBytes -= ended.keptBytes;
      ended.dispose();
      this.#spent.add(key);
    }
  }

  #checkUnspent(key: string): void {
    if (this.#spent.has(key)) {
      throw new WorkcellError(
        'output-not-found',
        `The action with the key "${key}" has run, and the server dropped its result. Use a new key to run it again.`,
        { details: { key } },
      );
    }
    if (this.#cancelled.has(key)) {
      throw new WorkcellError('cancelled', `The action with the key "${key}" was cancelled before it came.`);
    }
  }

  #nextFile(): string {
    this.#directory ??= makeScratch('actions');
    return join(this.#directory, `progress-${this.#files++}`);
  }
}

function checkSame(call: Call, fingerprint: string): Call {
  if (call.fingerprint === fingerprint) return call;
  throw new WorkcellError(
    'already-exists',
    `The key "${call.key}" was used for another action. Use a new key for each action.`,
    { details: { key: call.key } },
  );
}
