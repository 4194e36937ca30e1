/** Cells that were started before anybody asked, by their shape. One that was handed out never comes back. */
import { parseAction } from '../../protocol/index.js';
import { type SandboxCell, startSandbox } from './cell.js';
import type { SandboxOptions } from './options.js';

export interface PoolStats {
  /** Cells that are ready now. */
  readonly parked: number;
  /** Starts that were served from the pool, and those that were not. */
  readonly hits: number;
  readonly misses: number;
}

interface Shelf {
  readonly options: SandboxOptions;
  size: number;
  filling: Promise<void> | undefined;
  readonly parked: SandboxCell[];
}

/** To start a cell keeps this thread busy for a moment, in which the first command of the one handed out would wait. */
const refillMs = 20;

const shelves = new Map<string, Shelf>();
let hits = 0;
let misses = 0;

/** A cell of this shape: a parked one if there is any, else a new one. Others are started meanwhile. */
export async function takeSandbox(options: SandboxOptions): Promise<SandboxCell> {
  const { pool } = options;
  if (pool === undefined) return startSandbox(options);
  const shelf = shelfFor(options, pool.size);
  const cell = shelf.parked.shift();
  if (cell === undefined) misses++;
  else hits++;
  try {
    cell?.launcher.ref();
    return cell ?? (await startSandbox(options));
  } finally {
    setTimeout(() => void fill(shelf), refillMs).unref();
  }
}

export function poolStats(): PoolStats {
  const parked = [...shelves.values()].reduce((sum, shelf) => sum + shelf.parked.length, 0);
  return { parked, hits, misses };
}

/** Settles when every shelf is full, or could not be filled. */
export async function fillPools(): Promise<void> {
  await Promise.all([...shelves.values()].map(fill));
}

/** Stops every parked cell and forgets the shapes. They go with this process anyway. */
export async function drainPools(): Promise<void> {
  const parked = [...shelves.values()].flatMap((shelf) => {
    shelf.size = 0;
    return shelf.parked.splice(0);
  });
  shelves.clear();
  await Promise.all(parked.map((cell) => cell.stop()));
}

/** The workspace is part of the shape: it is mounted when the cell starts. */
function shelfFor({ pool: _pool, ...shape }: SandboxOptions, size: number): Shelf {
  const key = JSON.stringify(shape);
  const known = shelves.get(key);
  if (known !== undefined) {
    known.size = size;
    return known;
  }
  const shelf: Shelf = { options: shape, size, filling: undefined, parked: [] };
  shelves.set(key, shelf);
  return shelf;
}

function fill(shelf: Shelf): Promise<void> {
  shelf.filling ??= refill(shelf).finally(() => {
    shelf.filling = undefined;
  });
  return shelf.filling;
}

async function refill(shelf: Shelf): Promise<void> {
  try {
    while (shelf.parked.length < shelf.size) await park(shelf);
  } catch {
    // The next start that finds the shelf empty tells its caller why no cell can be started.
  }
}

async function park(shelf: Shelf): Promise<void> {
  const cell = await startSandbox(shelf.options);
  // Its shell is started too, which is most of what a first command waits for.
  await cell.executor.execute(parseAction({ action: 'run', command: ':' }));
  if (shelf.parked.length >= shelf.size) return cell.stop();
  cell.launcher.unref();
  shelf.parked.push(cell);
  void cell.lost?.then(() => {
    const index = shelf.parked.indexOf(cell);
    if (index === -1) return;
    shelf.parked.splice(index, 1);
    void cell.stop();
  });
}
