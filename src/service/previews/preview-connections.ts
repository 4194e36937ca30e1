/** How many connections the previews of each cell and of each tenant have, on one server. */
import { WorkcellError } from '../../protocol/index.js';
import { OpenCounts } from '../open-counts.js';

/** Whoever has a link could otherwise use up what all tenants share. */
const mostOfCell = 64;
const mostOfTenant = 1024;

export class PreviewConnections {
  readonly #counts = new OpenCounts();

  /** Throws when one of them has as many as it may. Returns the function that counts this one out again. */
  enter({ id, tenant }: { readonly id: string; readonly tenant: string }): () => void {
    const leaveCell = this.#counts.enter(`cell ${id}`, mostOfCell);
    if (leaveCell === undefined) throw full('this cell', mostOfCell);
    const leaveTenant = this.#counts.enter(`tenant ${tenant}`, mostOfTenant);
    if (leaveTenant === undefined) {
      leaveCell();
      throw full('this tenant', mostOfTenant);
    }
    return () => {
      leaveCell();
      leaveTenant();
    };
  }
}

function full(whose: string, limit: number): WorkcellError {
  return new WorkcellError(
    'rate-limited',
    `The previews of ${whose} have ${limit} connections, which is the most. Try again later.`,
    { details: { limit } },
  );
}
