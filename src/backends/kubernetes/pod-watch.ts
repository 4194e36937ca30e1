/** Follows pods with one watch for all cells of a namespace, whatever their number. */
import { type ClusterClient, ClusterRefusal } from './cluster-client.js';
import { type List, type Pod, podsPath } from './objects.js';
import { readLines } from './read-lines.js';

/**
 * The server ends a watch after this time. Bookmarks come about once a minute, so a connection that is silent for
 * longer is dead.
 */
const watchSeconds = 300;
const silenceMs = 90_000;
/** The memory that a list takes follows from it, and not from the number of pods. */
const pageSize = 500;
const firstDelayMs = 50;
const longestDelayMs = 10_000;

interface Follower {
  /** Gets each state of a pod; undefined when it no longer exists. */
  onState(pod: Pod | undefined): void;
  /** Gets the refusal of somebody who may not look. The watch tries again. */
  onRefusal(refusal: ClusterRefusal): void;
}

interface WatchEvent {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK' | 'ERROR';
  readonly object: Pod & { readonly code?: number; readonly message?: string };
}

/** The state that the watch knows is too old for the server; it lists again. */
class TooOld extends Error {}

const watches = new Map<ClusterClient, Map<string, PodWatch>>();

/** One for each namespace and selector. */
export function watchPods(client: ClusterClient, namespace: string, selector: string): PodWatch {
  const own = watches.get(client) ?? new Map<string, PodWatch>();
  watches.set(client, own);
  const key = `${namespace} ${selector}`;
  const watch = own.get(key) ?? new PodWatch(client, namespace, selector);
  own.set(key, watch);
  return watch;
}

export class PodWatch {
  readonly client: ClusterClient;
  readonly namespace: string;
  readonly #selector: string;
  /** Two starts may try the same name; the cluster takes one of them. */
  readonly #followers = new Map<string, Set<Follower>>();
  /** Pods that the cluster has reported. */
  readonly #seen = new Set<string>();
  #stopping: AbortController | undefined;

  constructor(client: ClusterClient, namespace: string, selector: string) {
    this.client = client;
    this.namespace = namespace;
    this.#selector = selector;
  }

  /** Call it before you create the pod. Returns the function that stops it. */
  follow(
    name: string,
    onState: Follower['onState'],
    onRefusal: Follower['onRefusal'] = () => {},
  ): () => void {
    const follower = { onState, onRefusal };
    const followers = this.#followers.get(name) ?? new Set();
    this.#followers.set(name, followers.add(follower));
    if (this.#stopping === undefined) {
      this.#stopping = new AbortController();
      void this.#run(this.#stopping.signal);
    }
    return () => {
      followers.delete(follower);
      if (followers.size > 0 || this.#followers.get(name) !== followers) return;
      this.#followers.delete(name);
      this.#seen.delete(name);
      if (this.#followers.size > 0) return;
      this.#stopping?.abort();
      this.#stopping = undefined;
    };
  }

  /** For a pod that exists: its follower learns that it is gone also from a list that does not have it. */
  expect(name: string): void {
    this.#seen.add(name);
  }

  async #run(signal: AbortSignal): Promise<void> {
    let version: string | undefined;
    let isFirst = true;
    let delayMs = firstDelayMs;
    while (!signal.aborted) {
      const begun = performance.now();
      try {
        version ??= await this.#list(isFirst, signal);
        isFirst = false;
        for await (const { type, object } of this.#events(version, signal)) {
          if (type === 'ERROR') throw object.code === 410 ? new TooOld() : new Error(object.message);
          version = object.metadata.resourceVersion ?? version;
          if (type !== 'BOOKMARK') this.#tell(object.metadata.name, type === 'DELETED' ? undefined : object);
        }
      } catch (error) {
        const isOld = error instanceof TooOld || (error instanceof ClusterRefusal && error.status === 410);
        if (isOld) version = undefined;
        if (error instanceof ClusterRefusal && [401, 403].includes(error.status)) this.#refuse(error);
      }
      if (signal.aborted) return;
      // A server or a proxy may end every watch at once, with an error or without one.
      if (performance.now() - begun > longestDelayMs) delayMs = firstDelayMs;
      await pause(delayMs, signal);
      delayMs = Math.min(delayMs * 2, longestDelayMs);
    }
  }

  /** Reports all existing pods, and those that disappeared since. Returns the version that a watch continues from. */
  async #list(isFirst: boolean, signal: AbortSignal): Promise<string> {
    // For the first, any state that the server has at hand suffices: the watch brings the rest. Later the list says
    // which pods are gone, and a server that lags behind would miss some that exist.
    const query = {
      labelSelector: this.#selector,
      ...(isFirst ? { resourceVersion: 0 } : { limit: pageSize }),
    };
    const present = new Set<string>();
    let list: List<Pod> | undefined;
    do {
      const page = { ...query, continue: list?.metadata.continue };
      list = await this.client.ask<List<Pod>>('GET', podsPath(this.namespace), { query: page, signal });
      for (const pod of list.items) {
        present.add(pod.metadata.name);
        this.#tell(pod.metadata.name, pod);
      }
    } while (list.metadata.continue);
    // The first may be older than the pods.
    if (isFirst) return list.metadata.resourceVersion;
    for (const name of [...this.#seen]) if (!present.has(name)) this.#tell(name, undefined);
    return list.metadata.resourceVersion;
  }

  async *#events(resourceVersion: string, signal: AbortSignal): AsyncGenerator<WatchEvent> {
    const stream = await this.client.open('GET', podsPath(this.namespace), {
      query: {
        watch: true,
        allowWatchBookmarks: true,
        timeoutSeconds: watchSeconds,
        labelSelector: this.#selector,
        resourceVersion,
      },
      signal,
      silenceMs,
    });
    // Cells keep a program alive; the watch does not.
    stream.socket.unref();
    try {
      for await (const line of readLines(stream)) yield JSON.parse(line) as WatchEvent;
    } finally {
      stream.destroy();
    }
  }

  #tell(name: string, pod: Pod | undefined): void {
    const followers = this.#followers.get(name);
    if (followers === undefined) return;
    if (pod === undefined) this.#seen.delete(name);
    else this.#seen.add(name);
    for (const { onState } of [...followers]) onState(pod);
  }

  #refuse(refusal: ClusterRefusal): void {
    const all = [...this.#followers.values()].flatMap((followers) => [...followers]);
    for (const { onRefusal } of all) onRefusal(refusal);
  }
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const finish = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', finish);
      resolve();
    };
    const timer = setTimeout(finish, ms).unref();
    signal.addEventListener('abort', finish);
  });
}
