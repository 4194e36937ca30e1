/** Reports changes below a path until the caller has seen enough. */
import type { ExecuteContext, FileChange } from '../../../protocol/index.js';
import { explained, refusal } from './file-errors.js';
import type { Tree } from './file-tree.js';
import { joinInside } from './paths.js';
import { Watcher } from './watcher.js';

export interface WatchOptions extends ExecuteContext {
  readonly recursive: boolean;
}

/** Resolves when the signal aborts or the tree closes. */
export function watch(
  tree: Tree,
  path: string,
  options: WatchOptions,
): Promise<{ path: string; changes: number }> {
  return explained('watch', path, async () => {
    const target = targetOf(tree, path);
    const queue = new ChangeQueue(options);
    const watcher = new Watcher(tree, target.names, {
      recursive: options.recursive && target.only === undefined,
      onChange: (change, relativePath) => {
        if (target.only !== undefined && relativePath !== target.only) return;
        queue.push({ type: 'file-change', change, path: joinInside(target.directory, relativePath) });
      },
    });
    try {
      await watcher.start();
      await options.onProgress?.({ type: 'ready' });
      await aborted([options.signal, tree.closed]);
    } finally {
      watcher.close();
    }
    await queue.drained();
    return { path: target.path, changes: queue.delivered };
  });
}

interface Target {
  readonly path: string;
  /** As seen from inside. */
  readonly directory: string;
  /** From the root of the tree to the directory. */
  readonly names: readonly string[];
  /** The one name that counts when you watch a file: its directory tells when somebody replaces it. */
  readonly only?: string;
}

function targetOf(tree: Tree, path: string): Target {
  using place = tree.resolve(path, { follow: true });
  if (place.name === '.' || place.stats?.isDirectory()) {
    return { path: place.path, directory: place.path, names: place.names };
  }
  if (place.stats === undefined) throw refusal('ENOENT');
  return {
    path: place.path,
    directory: place.path.slice(0, place.path.lastIndexOf('/')) || '/',
    names: place.names.slice(0, -1),
    only: place.name,
  };
}

/** Hands changes on one after the other; a slow receiver holds back only them. */
class ChangeQueue {
  delivered = 0;
  readonly #onProgress: ExecuteContext['onProgress'];
  #waiting: FileChange[] = [];
  #running: Promise<void> | undefined;

  constructor({ onProgress }: ExecuteContext) {
    this.#onProgress = onProgress;
  }

  push(change: FileChange): void {
    const last = this.#waiting.at(-1);
    if (last?.path === change.path && last.change === change.change) return;
    // A receiver that does not read must not make this grow without end.
    if (this.#waiting.length >= maxWaiting) return;
    this.#waiting.push(change);
    this.#running ??= this.#run();
  }

  async drained(): Promise<void> {
    await this.#running;
  }

  async #run(): Promise<void> {
    while (this.#waiting.length > 0) {
      // All at once: taking the first of a long queue costs as much as the queue is long.
      const changes = this.#waiting;
      this.#waiting = [];
      for (const change of changes) {
        this.delivered++;
        await this.#onProgress?.(change);
      }
    }
    this.#running = undefined;
  }
}

const maxWaiting = 100_000;

function aborted(signals: readonly (AbortSignal | undefined)[]): Promise<void> {
  const all = AbortSignal.any(signals.filter((signal) => signal !== undefined));
  if (all.aborted) return Promise.resolve();
  return new Promise((resolve) => all.addEventListener('abort', () => resolve(), { once: true }));
}
