/** Cells that start ahead of demand, by their options. A cell never comes back after the pool handed it out. */
import { type Cell, type PoolStats, parseAction, WorkcellError } from '../protocol/index.js';

export interface Pool<Options, Pooled> {
  /** A cell with these options: a parked one if there is any, else a new one. Starts others meanwhile. */
  take(options: Options): Promise<Pooled>;
  stats(): PoolStats;
  /** Settles when every sub-pool is full, or cannot fill. */
  fill(): Promise<void>;
  /** Stops every parked cell and forgets the shapes. They end with this process anyway. */
  drain(): Promise<void>;
}

interface SubPool<Options, Pooled> {
  readonly options: Options;
  size: number;
  filling: Promise<void> | undefined;
  readonly parked: Pooled[];
}

/**
 * Starting a cell keeps this thread busy for a moment, and the first command in a cell just handed out would wait for
 * it.
 */
const refillMs = 20;

export function createPool<
  Options extends { pool?: { size: number } | undefined },
  Pooled extends Pick<Cell, 'executor' | 'lost' | 'poolStats' | 'stop'>,
>(parts: {
  start(options: Options): Promise<Pooled>;
  /**
   * The pool calls these when it hands a cell out, and before, when it parks one: a parked cell must not keep this
   * process alive.
   */
  onTake?(cell: Pooled): void;
  onPark?(cell: Pooled): void;
}): Pool<Options, Pooled> {
  const { start, onTake, onPark } = parts;
  const subPools = new Map<string, SubPool<Options, Pooled>>();
  let hits = 0;
  let misses = 0;

  /** The workspace is part of the options: the cell mounts it when it starts. */
  function subPoolFor(options: Options, size: number): SubPool<Options, Pooled> {
    const shape = { ...options, pool: undefined };
    const key = JSON.stringify(shape);
    const subPool = subPools.get(key) ?? { options: shape, size, filling: undefined, parked: [] };
    subPool.size = size;
    subPools.set(key, subPool);
    return subPool;
  }

  function fill(subPool: SubPool<Options, Pooled>): Promise<void> {
    subPool.filling ??= refill(subPool).finally(() => {
      subPool.filling = undefined;
    });
    return subPool.filling;
  }

  async function refill(subPool: SubPool<Options, Pooled>): Promise<void> {
    try {
      while (subPool.parked.length < subPool.size) await park(subPool);
    } catch {
      // The next start that finds the sub-pool empty tells its caller why no cell starts.
    }
  }

  async function park(subPool: SubPool<Options, Pooled>): Promise<void> {
    const cell = await start(subPool.options);
    // Start its shell, too, which is most of what a first command waits for.
    await cell.executor.execute(parseAction({ action: 'run', command: ':' }));
    if (subPool.parked.length >= subPool.size) return cell.stop();
    onPark?.(cell);
    subPool.parked.push(cell);
    void cell.lost?.then(() => {
      const index = subPool.parked.indexOf(cell);
      if (index === -1) return;
      subPool.parked.splice(index, 1);
      void cell.stop();
    });
  }

  function stats(): PoolStats {
    const parked = [...subPools.values()].reduce((sum, subPool) => sum + subPool.parked.length, 0);
    return { parked, hits, misses };
  }

  return {
    async take(options) {
      const { pool } = options;
      if (pool === undefined) return start(options);
      const subPool = subPoolFor(options, pool.size);
      const cell = subPool.parked.shift();
      if (cell === undefined) misses++;
      else hits++;
      try {
        if (cell === undefined) return { ...(await start(subPool.options)), poolStats: stats };
        onTake?.(cell);
        return { ...cell, poolStats: stats };
      } finally {
        setTimeout(() => void fill(subPool), refillMs).unref();
      }
    },
    stats,
    async fill() {
      await Promise.all([...subPools.values()].map(fill));
    },
    async drain() {
      const parked = [...subPools.values()].flatMap((subPool) => {
        subPool.size = 0;
        return subPool.parked.splice(0);
      });
      subPools.clear();
      await Promise.all(parked.map((cell) => cell.stop()));
    },
  };
}

/** A cell that waits would have placeholders of secrets that its runtime does not know. */
export function noSecretPool(): WorkcellError {
  return new WorkcellError(
    'invalid-config',
    'A pool cannot hold cells whose secrets have reach "network". Leave out pool, or give these secrets another reach.',
  );
}
