/** What tenants used: how many cells they made on each day, and how long those ran. */
import type { CellRecord } from './service-store.js';

/** Of one tenant on one day, in UTC. */
export interface UsagePiece {
  readonly day: string;
  readonly cellMs: number;
  readonly cells: number;
}

export interface UsageRow extends UsagePiece {
  readonly tenant: string;
}

/** A record after a change, and what that change adds to the usage of its tenant. `after`: undefined when the cell is gone. */
export function counted(
  before: CellRecord,
  after: CellRecord | undefined,
  now: number = Date.now(),
): { record: CellRecord | undefined; usage: UsagePiece[] } {
  const [was, is] = [before.state === 'running', after?.state === 'running'];
  if (was === is) return { record: after, usage: [] };
  if (was) return { record: after, usage: ranUntil(before, now) };
  const begun = before.state === 'starting' ? [{ day: dayOf(now), cellMs: 0, cells: 1 }] : [];
  return { record: after && { ...after, runningSince: now }, usage: begun };
}

/** The time that a cell has run since it last started or resumed, day by day. */
function ranUntil({ state, runningSince }: CellRecord, now: number): UsagePiece[] {
  if (state !== 'running' || runningSince === undefined) return [];
  const pieces: UsagePiece[] = [];
  for (let at = runningSince; at < now; ) {
    const next = Math.min(now, Math.floor(at / dayMs + 1) * dayMs);
    pieces.push({ day: dayOf(at), cellMs: next - at, cells: 0 });
    at = next;
  }
  return pieces;
}

/** What the store has, and what running cells have used so far; of one tenant, or of all. */
export function usageOf(
  kept: readonly UsageRow[],
  cells: readonly CellRecord[],
  wanted: { readonly tenant: string | undefined; readonly from: string; readonly to: string },
): UsageRow[] {
  const now = Date.now();
  const running = cells
    .flatMap((record) => ranUntil(record, now).map((piece) => ({ tenant: record.tenant, ...piece })))
    .filter(({ day }) => day >= wanted.from && day <= wanted.to);
  return addUp(
    [...kept, ...running].filter(({ tenant }) => wanted.tenant === undefined || tenant === wanted.tenant),
  );
}

/** One row for each tenant and day, in that order. */
function addUp(rows: readonly UsageRow[]): UsageRow[] {
  const sums = new Map<string, UsageRow>();
  for (const row of rows) {
    const key = `${row.tenant} ${row.day}`;
    const before = sums.get(key);
    const cellMs = row.cellMs + (before?.cellMs ?? 0);
    sums.set(key, { ...row, cellMs, cells: row.cells + (before?.cells ?? 0) });
  }
  return [...sums].toSorted(([left], [right]) => (left < right ? -1 : 1)).map(([, row]) => row);
}

const dayMs = 86_400_000;

function dayOf(at: number): string {
  return new Date(at).toISOString().slice(0, 10);
}
