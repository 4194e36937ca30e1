import { inJson } from '../event-filter.js';
import type { ReadQuery } from '../event-store.js';

type Value = string | number;

/** The statement for one page. It may find more than the filter lets pass, never less. */
export function selectEvents(runtimeId: string, query: ReadQuery): { sql: string; values: Value[] } {
  const { after, before, limit, kinds, sources, from, until, text } = query;
  const conditions = ['runtime = ?', 'id > ?'];
  const values: Value[] = [runtimeId, after];
  const add = (condition: string, ...given: Value[]) => {
    conditions.push(condition);
    values.push(...given);
  };
  if (before !== undefined) add('id < ?', before);
  if (kinds !== undefined) add(`kind IN (${kinds.map(() => '?').join()})`, ...kinds);
  if (sources !== undefined) add(`source IN (${sources.map(() => '?').join()})`, ...sources);
  if (from !== undefined) add('at >= ?', from);
  if (until !== undefined) add('at < ?', until);
  if (text !== undefined)
    add(
      `(instr(body, ?) OR texts IS NOT NULL AND EXISTS (
        SELECT 1 FROM json_each(events.texts) AS place JOIN texts ON texts.digest = json_extract(place.value, '$[1]')
        WHERE instr(texts.json, ?)))`,
      inJson(text),
      inJson(text),
    );
  const sql = `SELECT * FROM events WHERE ${conditions.join(' AND ')} ORDER BY id LIMIT ?`;
  return { sql, values: [...values, limit] };
}
