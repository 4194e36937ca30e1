/** Whose cells were whose: their records stay readable when they have ended. */
import type { ServiceCells } from './service-cells.js';
import type { MadeAt, Page, ServiceStore } from './service-store.js';

interface Wanted {
  readonly tenant: string;
  readonly only?: string | undefined;
  readonly withEnded: boolean;
}

export class CellHistory {
  readonly #store: Pick<ServiceStore, 'ended' | 'endedOf'>;
  readonly #cells: Pick<ServiceCells, 'list'>;

  constructor(store: Pick<ServiceStore, 'ended' | 'endedOf'>, cells: Pick<ServiceCells, 'list'>) {
    this.#store = store;
    this.#cells = cells;
  }

  /** Whether a cell that ended was this tenant's. */
  async had(tenant: string, id: string): Promise<boolean> {
    return (await this.#store.endedOf(id)) === tenant;
  }

  /** Cells of a tenant, those made last first. `only`: that one alone. */
  async page({ tenant, only, withEnded }: Wanted, page: Page): Promise<MadeAt[]> {
    const { before, limit } = page;
    const live = this.#cells.list(tenant).filter(({ id }) => only === undefined || only === id);
    const behind = live
      .map(({ id, createdAt }) => ({ id, at: createdAt }))
      .filter((cell) => before === undefined || isOlder(cell, before));
    const ended = withEnded ? await this.#store.ended(tenant, page) : [];
    return [...behind, ...ended].toSorted((left, right) => (isOlder(left, right) ? 1 : -1)).slice(0, limit);
  }
}

function isOlder(left: MadeAt, right: MadeAt): boolean {
  return left.at < right.at || (left.at === right.at && left.id < right.id);
}
