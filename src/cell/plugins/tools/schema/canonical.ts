import type { Work } from './work.js';

/** A text that is the same for values that are equal as JSON, whatever the order of their names. */
export function canonical(value: unknown, work: Work): string {
  const parts: string[] = [];
  write(value, parts, work);
  return parts.join('');
}

function write(value: unknown, parts: string[], work: Work): void {
  work.spend(1 + (typeof value === 'string' ? stepsOf(value) : 0));
  if (Array.isArray(value)) {
    parts.push('[');
    for (const [index, entry] of value.entries()) {
      if (index > 0) parts.push(',');
      write(entry, parts, work);
    }
    parts.push(']');
  } else if (typeof value === 'object' && value !== null) {
    const entries = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1));
    parts.push('{');
    for (const [index, [name, entry]] of entries.entries()) {
      work.spend(1 + stepsOf(name));
      parts.push(index > 0 ? ',' : '', JSON.stringify(name), ':');
      write(entry, parts, work);
    }
    parts.push('}');
  } else parts.push(JSON.stringify(value) ?? 'null');
}

/** What it takes to write a text, or to compare two of that length. */
export function stepsOf(text: string): number {
  return text.length >> 5;
}
