/** Cells that were started before anybody asked, by their shape. One that was handed out never comes back. */
import { type Cell, type PoolStats, parseAction } from '../protocol/index.js';

export interface Pool<Options, Pooled> {
  /** A cell of this shape: a parked one if there is any, else a new one. Others are started meanwhile. */
  take(options: Options): Promise<Pooled>;
  stats(): PoolStats;
  /** Settles when every shelf is full, or could not be filled. */
  fill(): Promise<void>;
  /** Stops every parked cell and forgets the shapes. They go with this process anyway. */
  drain(): Promise<void>;
}

interface Shelf<Options, Pooled> {
  readonly options: Options;
  size: number;
  filling: Promise<void> | undefined;
  readonly parked: Pooled[];
}

/** To start a cell keeps this thread busy for a moment, in which the first command of the one handed out would wait. */
const refillMs = 20;

export function createPool<
  Options extends { pool?: { size: number } | undefined },
  Pooled extends Pick<Cell, 'executor' | 'lost' | 'poolStats' | 'stop'>,
>(parts: {
  start(options: Options): Promise<Pooled>;
  /** Called when a cell is handed out, and before, when it is parked: then it must not keep this process alive. */
  onTake?(cell: Pooled): void;
  onPark?(cell: Pooled): void;
}): Pool<Options, Pooled> {
  const { start, onTake, onPark } = parts;
  const shelves = new Map<string, Shelf<Options, Pooled>>();
  let hits = 0;
  let misses = 0;

  /** The workspace is part of the shape: it is mounted when the cell starts. */
  function shelfFor(options: Options, size: number): Shelf<Options, Pooled> {
    const shape = { ...options, pool: undefined };
    const key = JSON.stringify(shape);
    const shelf = shelves.get(key) ?? { options: shape, size, filling: undefined, parked: [] };
    shelf.size = size;
    shelves.set(key, shelf);
    return shelf;
  }

  function fill(shelf: Shelf<Options, Pooled>): Promise<void> {
    shelf.filling ??= refill(shelf).finally(() => {
      shelf.filling = undefined;
    });
    return shelf.filling;
  }

  async function refill(shelf: Shelf<Options, Pooled>): Promise<void> {
    try {
      while (shelf.parked.length < shelf.size) await park(shelf);
    } catch {
      // The next start that finds the shelf empty tells its caller why no cell can be started.
    }
  }

  async function park(shelf: Shelf<Options, Pooled>): Promise<void> {
    const cell = await start(shelf.options);
    // Its shell is started too, which is most of what a first command waits for.
    await cell.executor.execute(parseAction({ action: 'run', command: ':' }));
    if (shelf.parked.length >= shelf.size) return cell.stop();
    onPark?.(cell);
    shelf.parked.push(cell);
    void cell.lost?.then(() => {
      const index = shelf.parked.indexOf(cell);
      if (index === -1) return;
      shelf.parked.splice(index, 1);
      void cell.stop();
    });
  }

  function stats(): PoolStats {
    const parked = [...shelves.values()].reduce((sum, shelf) => sum + shelf.parked.length, 0);
    return { parked, hits, misses };
  }

  return {
    async take(options) {
      const { pool } = options;
      if (pool === undefined) return start(options);
      const shelf = shelfFor(options, pool.size);
      const cell = shelf.parked.shift();
      if (cell === undefined) misses++;
      else hits++;
      try {
        if (cell === undefined) return { ...(await start(shelf.options)), poolStats: stats };
        onTake?.(cell);
        return { ...cell, poolStats: stats };
      } finally {
        setTimeout(() => void fill(shelf), refillMs).unref();
      }
    },
    stats,
    async fill() {
      await Promise.all([...shelves.values()].map(fill));
    },
    async drain() {
      const parked = [...shelves.values()].flatMap((shelf) => {
        shelf.size = 0;
        return shelf.parked.splice(0);
      });
      shelves.clear();
      await Promise.all(parked.map((cell) => cell.stop()));
    },
  };
}
