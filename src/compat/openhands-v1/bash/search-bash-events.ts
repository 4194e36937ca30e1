/** Finds bash events and cuts the result into pages. */

import { z } from 'zod';
import { Refusal } from '../detail-errors.js';
import { words } from '../openhands-v1-messages.js';
import { numberSchema } from '../query-values.js';
import type { BashEvent, BashEvents, Entry } from './bash-events.js';
import { parseTimestamp } from './timestamps.js';

const timestampSchema = z.string().transform((text, context) => {
  const microseconds = parseTimestamp(text);
  if (microseconds !== undefined) return microseconds;
  context.addIssue({ code: 'custom', message: 'Input should be a valid datetime' });
  return z.NEVER;
});

export const searchQuerySchema = z.object({
  kind__eq: z.enum(['BashCommand', 'BashOutput']).optional(),
  command_id__eq: z.string().transform(plainId).optional(),
  timestamp__gte: timestampSchema.optional(),
  timestamp__lt: timestampSchema.optional(),
  order__gt: numberSchema.optional(),
  sort_order: z.enum(['TIMESTAMP', 'TIMESTAMP_DESC']).default('TIMESTAMP'),
  page_id: z.string().optional(),
  limit: numberSchema.pipe(z.int().min(1).max(100)).default(100),
});

type SearchQuery = z.output<typeof searchQuerySchema>;

export interface BashEventPage {
  readonly items: readonly BashEvent[];
  readonly next_page_id: string | null;
}

export function searchEvents(events: BashEvents, query: SearchQuery): BashEventPage {
  const isDescending = query.sort_order === 'TIMESTAMP_DESC';
  const start = query.page_id === undefined ? undefined : pageStart(query.page_id);
  const found: Entry[] = [];
  const entries = isDescending ? [...events.entries()].reverse() : events.entries();
  for (const entry of entries) {
    if (start !== undefined && (isDescending ? entry.sequence > start : entry.sequence < start)) continue;
    if (!matches(entry, query)) continue;
    if (found.length === query.limit)
      return { items: found.map(({ event }) => event), next_page_id: String(entry.sequence) };
    found.push(entry);
  }
  return { items: found.map(({ event }) => event), next_page_id: null };
}

/** Ids are hexadecimal; the form with dashes is the same id. */
export function plainId(id: string): string {
  return id.replaceAll('-', '').toLowerCase();
}

function matches({ event, microseconds }: Entry, query: SearchQuery): boolean {
  if (query.kind__eq !== undefined && event.kind !== query.kind__eq) return false;
  if (query.timestamp__gte !== undefined && microseconds < query.timestamp__gte) return false;
  if (query.timestamp__lt !== undefined && microseconds >= query.timestamp__lt) return false;
  // A command carries no id of a command, so asking for one leaves its outputs only.
  if (query.command_id__eq !== undefined)
    if (event.kind !== 'BashOutput' || event.command_id !== query.command_id__eq) return false;
  if (query.order__gt !== undefined && event.kind === 'BashOutput') return event.order > query.order__gt;
  return true;
}

function pageStart(pageId: string): number {
  if (/^\d{1,15}$/.test(pageId)) return Number(pageId);
  throw new Refusal(400, words('bash.no_page', { page: JSON.stringify(pageId) }));
}
