/** Events for a list: cuts long texts, so that a record with much output opens at once. */

import type { WorkcellEvent } from '../protocol/index.js';
import type { BriefEvent } from '../protocol/record-wire.js';

const longestText = 2048;
const mostItems = 200;

export function briefEvent(event: WorkcellEvent): BriefEvent {
  const cut = { any: false };
  const brief = shorten(event, cut) as WorkcellEvent;
  return cut.any ? { ...brief, trimmed: true } : event;
}

/** The same as JSON. A short event has no long text in it, so nobody looks for one. */
export function briefJson(event: WorkcellEvent): string {
  const json = JSON.stringify(event);
  return json.length <= longestText ? json : JSON.stringify(briefEvent(event));
}

function shorten(value: unknown, cut: { any: boolean }): unknown {
  if (typeof value === 'string') {
    if (value.length <= longestText) return value;
    cut.any = true;
    return value.slice(0, longestText);
  }
  if (Array.isArray(value)) {
    if (value.length > mostItems) cut.any = true;
    return value.slice(0, mostItems).map((item) => shorten(item, cut));
  }
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, shorten(inner, cut)]));
}
