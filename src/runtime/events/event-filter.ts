import type { WorkcellEvent } from '../../protocol/index.js';
import type { EventFilter } from './event-store.js';

export function matches(event: WorkcellEvent, filter: EventFilter): boolean {
  const { kinds, sources, from, until, text } = filter;
  return (
    (kinds === undefined || kinds.includes(event.kind)) &&
    (sources === undefined || sources.includes(event.source)) &&
    (from === undefined || event.at >= from) &&
    (until === undefined || event.at < until) &&
    (text === undefined || hasText(bodyOf(event), text))
  );
}

/** The content of an event, in the field named after its kind. */
export function bodyOf(event: WorkcellEvent): unknown {
  return (event as unknown as Record<string, unknown>)[event.kind];
}

/** A text as it appears inside JSON, so that a store can look for it there. */
export function inJson(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

function hasText(value: unknown, text: string): boolean {
  if (typeof value === 'string') return value.includes(text);
  if (typeof value !== 'object' || value === null) return false;
  return Object.values(value).some((inner) => hasText(inner, text));
}
