/** Finds the kept cell that a person means. */
import { type ListCellsOptions, listCells } from '../cells.js';
import type { CellInfo } from '../index.js';
import { WorkcellError } from '../protocol/errors.js';

/** A cell by its id or the beginning of it. */
export async function findCell(named: string, place: ListCellsOptions): Promise<CellInfo> {
  const reasons: string[] = [];
  const onUnavailable = (backend: string, reason: string) =>
    reasons.push(` Not asked: ${backend}. ${reason}`);
  const cells = await listCells({ ...place, onUnavailable });
  const found = cells.filter(({ id }) => named !== '' && id.startsWith(named));
  const exact = found.find(({ id }) => id === named) ?? (found.length === 1 ? found[0] : undefined);
  if (exact !== undefined) return exact;
  const problem =
    found.length === 0
      ? `There is no cell ${JSON.stringify(named)} that was kept alive`
      : `Several cells begin with ${JSON.stringify(named)}`;
  throw new WorkcellError(
    'cell-not-found',
    `${problem}; "workcell cells" lists those there are, and --keep-alive keeps one.${reasons.join('')}`,
    { details: { id: named } },
  );
}
