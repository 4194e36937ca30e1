import { inJson } from '../event-filter.js';
import type { ReadQuery } from '../event-store.js';

/** The statement for one page. It may find more than the filter lets pass, never less. */
export function selectEvents(runtimeId: string, query: ReadQuery): { text: string; values: unknown[] } {
  const { after, before, limit, kinds, sources, from, until, text } = query;
  const values: unknown[] = [];
  const value = (given: unknown) => `$${values.push(given)}`;
  const conditions = [`runtime = ${value(runtimeId)}`, `id > ${value(after)}`];
  if (before !== undefined) conditions.push(`id < ${value(before)}`);
  if (kinds !== undefined) conditions.push(`kind = ANY(${value(kinds)})`);
  if (sources !== undefined) conditions.push(`source = ANY(${value(sources)})`);
  if (from !== undefined) conditions.push(`at >= ${value(from)}`);
  if (until !== undefined) conditions.push(`at < ${value(until)}`);
  if (text !== undefined) {
    const part = value(inJson(text));
    conditions.push(`(strpos(body, ${part}) > 0 OR texts IS NOT NULL AND EXISTS (
      SELECT 1 FROM json_array_elements(events.texts::json) AS place
      JOIN workcell.texts AS kept ON kept.digest = place ->> 1
      WHERE strpos(kept.json, ${part}) > 0))`);
  }
  const where = conditions.join(' AND ');
  return {
    text: `SELECT * FROM workcell.events WHERE ${where} ORDER BY id LIMIT ${value(limit)}`,
    values,
  };
}
