/** Watches of directories: as streams, and as queues that a client empties. */
import { randomBytes } from 'node:crypto';
import { posix } from 'node:path';
import type { Executor, FileChange } from '../../../protocol/index.js';
import { RpcError } from '../e2b-errors.js';

export interface WatchEvent {
  readonly name: string;
  readonly type: string;
  readonly path: string;
}

const types: Record<FileChange['change'], string> = {
  created: 'EVENT_TYPE_CREATE',
  modified: 'EVENT_TYPE_WRITE',
  removed: 'EVENT_TYPE_REMOVE',
};

/** Watches until `signal` aborts. Settles when the watch is in place; `onEnd` tells that it broke. */
export function watch(
  executor: Executor,
  path: string,
  recursive: boolean,
  on: { event(event: WatchEvent): unknown; end(error: unknown): void; signal: AbortSignal },
): Promise<void> {
  return new Promise((resolve, reject) => {
    executor
      .execute<'watch'>(
        { action: 'watch', path, recursive },
        {
          signal: on.signal,
          onProgress: (progress) => {
            if (progress.type === 'ready') resolve();
            if (progress.type !== 'file-change') return undefined;
            const name = posix.relative(path, progress.path);
            return on.event({ name, type: types[progress.change], path: progress.path });
          },
        },
      )
      .then(
        () => on.end(undefined),
        (error: unknown) => {
          reject(error as Error);
          on.end(error);
        },
      );
  });
}

const mostWatchers = 100;
/** Those that all watchers of a sandbox keep together. */
const mostEvents = 10_000;

/** For clients that ask now and then. */
export class Watchers {
  readonly #open = new Map<string, { events: object[]; stop: AbortController }>();

  async create(
    executor: Executor,
    path: string,
    recursive: boolean,
    shown: (event: WatchEvent) => Promise<object>,
  ): Promise<string> {
    if (this.#open.size >= mostWatchers)
      throw new RpcError(
        'resource_exhausted',
        `A sandbox has at most ${mostWatchers} watchers; remove some.`,
      );
    const id = `w${randomBytes(8).toString('hex')}`;
    const watcher = { events: [] as object[], stop: new AbortController() };
    this.#open.set(id, watcher);
    try {
      await watch(executor, path, recursive, {
        signal: watcher.stop.signal,
        event: async (event) => {
          if (this.#kept < mostEvents) watcher.events.push(await shown(event));
        },
        end: () => this.#open.delete(id),
      });
    } catch (error) {
      this.#open.delete(id);
      throw error;
    }
    return id;
  }

  /** What has happened since the last time. */
  take(id: string): object[] {
    return this.#find(id).events.splice(0);
  }

  remove(id: string): void {
    this.#find(id).stop.abort();
    this.#open.delete(id);
  }

  close(): void {
    for (const { stop } of this.#open.values()) stop.abort();
    this.#open.clear();
  }

  get #kept(): number {
    let kept = 0;
    for (const { events } of this.#open.values()) kept += events.length;
    return kept;
  }

  #find(id: string) {
    const watcher = this.#open.get(id);
    if (watcher === undefined) throw new RpcError('not_found', `watcher with id ${id} not found`);
    return watcher;
  }
}
