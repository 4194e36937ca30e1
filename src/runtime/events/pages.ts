import type { WorkcellEvent } from '../../protocol/index.js';
import { matches } from './event-filter.js';
import type { ReadQuery } from './event-store.js';

/**
 * Reads until enough events pass the filter. A store searches for a text in JSON, which also has names of fields, so
 * check its findings once more.
 */
export async function collectPages(
  query: ReadQuery,
  fetch: (after: number) => WorkcellEvent[] | Promise<WorkcellEvent[]>,
): Promise<WorkcellEvent[]> {
  const found: WorkcellEvent[] = [];
  let { after } = query;
  while (true) {
    const page = await fetch(after);
    for (const event of page) if (found.length < query.limit && matches(event, query)) found.push(event);
    const last = page.at(-1);
    if (last === undefined || found.length >= query.limit) return found;
    // A page that its size ended may have nothing that passes, and more behind it.
    const isLast = page.length < query.limit && (query.maxSize === undefined || found.length > 0);
    if (isLast) return found;
    after = last.id;
  }
}
