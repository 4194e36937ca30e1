/** Tells of cells as they change, and waits for one to be in a state. */
import { WorkcellError } from '../protocol/index.js';
import type { CellNews, ServiceCell } from '../protocol/service-wire.js';
import { lost } from './cell-errors.js';
import type { CellChange } from './cell-records.js';
import type { CellRecord } from './service-store.js';
import { shownCell } from './shown-cell.js';

/** Cells that can be listened to. */
interface Cells {
  byId(id: string): CellRecord | undefined;
  list(tenant: string | undefined): CellRecord[];
  listen(listener: (change: CellChange) => void): () => void;
}

/**
 * All cells that fit, then each change, until the signal aborts. A slow reader misses what a cell was in between, and
 * cells that came and went, so what waits for it is bounded by the number of cells.
 */
export async function* watchCells(
  cells: Cells,
  fits: (record: CellRecord) => boolean,
  signal: AbortSignal,
): AsyncGenerator<CellNews> {
  const news = new Map<string, CellNews>();
  /** Ids that the reader knows. */
  const told = new Set<string>();
  let wake = () => {};
  signal.addEventListener('abort', () => wake());
  const stop = cells.listen(({ record, before, isGone }) => {
    const { id } = record;
    if (!isGone && fits(record)) news.set(id, { type: 'cell', cell: shownCell(record) });
    else if (before !== undefined && told.has(id)) news.set(id, { type: 'gone', id });
    else news.delete(id);
    wake();
  });
  try {
    for (const record of cells.list(undefined))
      if (fits(record)) {
        told.add(record.id);
        yield { type: 'cell', cell: shownCell(record) };
      }
    yield { type: 'all' };
    while (!signal.aborted) {
      for (const [id, item] of news) {
        news.delete(id);
        if (item.type === 'cell') told.add(id);
        else told.delete(id);
        yield item;
      }
      if (signal.aborted) return;
      if (news.size === 0)
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
    }
  } finally {
    stop();
  }
}

/** Resolves when the cell is in that state; fails when it cannot get there, and when the time is over. */
export async function waitForState(
  cells: Cells,
  { id }: CellRecord,
  wanted: ServiceCell['state'],
  { timeoutMs, signal }: { readonly timeoutMs: number; readonly signal: AbortSignal },
): Promise<CellRecord> {
  const over = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
  for await (const _ of watchCells(cells, (record) => record.id === id, over)) {
    const record = cells.byId(id);
    if (record === undefined)
      throw new WorkcellError('cell-not-found', `The cell ${id} ended before it was ${wanted}.`, {
        details: { cell: id },
      });
    if (record.state === wanted) return record;
    if (record.state === 'lost') throw lost(record);
  }
  const state = cells.byId(id)?.state;
  throw new WorkcellError('timed-out', `The cell ${id} is ${state}, and not ${wanted} in time. Ask again.`, {
    details: { cell: id, state, timeoutMs },
  });
}
