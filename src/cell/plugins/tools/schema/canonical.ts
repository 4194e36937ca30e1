import type { Work } from './work.js';

/** A text that is the same for values that are equal as JSON, whatever the order of their names. */
export function canonical(value: unknown, work: Work): string {
  if (typeof value === 'string') work.spend(1 + (value.length >> 5));
  else work.spend();
  if (Array.isArray(value)) return `[${value.map((entry) => canonical(entry, work)).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  const entries = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1));
  return `{${entries.map(([name, entry]) => `${JSON.stringify(name)}:${canonical(entry, work)}`).join(',')}}`;
}
