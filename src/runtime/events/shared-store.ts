/** One open store for all runtimes of this process that name the same one. */
import type { EventStore, Retention } from './event-store.js';
import { Writer } from './writer.js';

export interface SharedStore {
  readonly store: EventStore;
  readonly writer: Writer;
  /** Each user that acquired it calls this once. */
  release(): void;
}

interface Entry {
  users: number;
  readonly opened: Promise<{ store: EventStore; writer: Writer }>;
  idle?: NodeJS.Timeout | undefined;
}

/** An unused store stays open this long for the next runtime: closing one costs more than most of its life. */
const idleMs = 1000;

const entries = new Map<string, Entry>();

export async function acquireStore(
  key: string,
  open: () => Promise<EventStore>,
  retention: () => Retention,
): Promise<SharedStore> {
  const entry: Entry = entries.get(key) ?? newEntry(open, retention);
  entries.set(key, entry);
  entry.users++;
  clearTimeout(entry.idle);
  const release = () => {
    entry.users--;
    if (entry.users > 0 || entries.get(key) !== entry) return;
    entry.idle = setTimeout(() => void closeEntry(key, entry), idleMs).unref();
  };
  try {
    let released = false;
    return {
      ...(await entry.opened),
      release: () => {
        if (!released) release();
        released = true;
      },
    };
  } catch (error) {
    entries.delete(key);
    throw error;
  }
}

async function closeEntry(key: string, entry: Entry): Promise<void> {
  clearTimeout(entry.idle);
  entries.delete(key);
  const { store } = await entry.opened;
  await store.close();
}

function newEntry(open: () => Promise<EventStore>, retention: () => Retention): Entry {
  const entry: Entry = { users: 0, opened: start(open, retention, () => entry.users <= 1) };
  return entry;
}

async function start(
  open: () => Promise<EventStore>,
  retention: () => Retention,
  alone: () => boolean,
): Promise<{ store: EventStore; writer: Writer }> {
  const store = await open();
  setImmediate(() => void compact(store, retention()));
  return { store, writer: new Writer(store, alone) };
}

/** In small steps, between which everything else has its turn. */
async function compact(store: EventStore, retention: Retention): Promise<void> {
  try {
    while (await store.compact(retention)) await new Promise((resolve) => setImmediate(resolve));
  } catch {
    // The store is closed or busy: the next process that opens it continues.
  }
}
