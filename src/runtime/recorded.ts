/** What the record keeps of an action or a result: all of a usual one, and the shape of one that is too large. */
import { createHash } from 'node:crypto';
import { inTurns, type Steps } from '../cell/executor/files/pace.js';

/** An event has no more characters than this, so that a store writes it within milliseconds. */
const mostCharacters = 1024 * 1024;

/** What each value counts besides its text. */
const perValue = 16;

/** Characters of one step. */
const stepLength = 262_144;

/** The value itself when it is small enough. */
export function recorded<Value extends object>(value: Value): Value | Promise<Value> {
  if (sizeUpTo(value, mostCharacters) <= mostCharacters) return value;
  return inTurns(shortened(value, { left: mostCharacters })) as Promise<Value>;
}

/** Stops counting beyond the limit. */
function sizeUpTo(value: unknown, limit: number): number {
  if (typeof value === 'string') return perValue + value.length;
  if (typeof value !== 'object' || value === null) return perValue;
  let size = perValue;
  for (const key in value) {
    size += key.length + sizeUpTo((value as Record<string, unknown>)[key], limit - size);
    if (size > limit) break;
  }
  return size;
}

function* shortened(value: unknown, room: { left: number }): Steps<unknown> {
  room.left -= perValue;
  if (typeof value === 'string') return yield* shortenedText(value, room);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) {
    const items: unknown[] = [];
    for (const item of value) {
      if (room.left <= 0) return [...items, `… ${value.length - items.length} more`];
      items.push(yield* shortened(item, room));
    }
    return items;
  }
  const fields: [string, unknown][] = [];
  const keys = Object.keys(value);
  for (const key of keys) {
    if (room.left <= 0) {
      fields.push(['…', `${keys.length - fields.length} more`]);
      break;
    }
    room.left -= key.length;
    fields.push([key, yield* shortened((value as Record<string, unknown>)[key], room)]);
  }
  yield;
  return Object.fromEntries(fields);
}

/** The beginning and the end of a long text, and what tells the whole of it from others. */
function* shortenedText(text: string, room: { left: number }): Steps<string> {
  const kept = Math.max(room.left >> 2, 0);
  if (text.length <= Math.max(2 * kept, perValue)) {
    room.left -= text.length;
    return text;
  }
  const hash = createHash('sha256');
  let bytes = 0;
  for (let start = 0; start < text.length; ) {
    const end = wholeEnd(text, start + stepLength);
    const part = Buffer.from(text.slice(start, end));
    hash.update(part);
    bytes += part.length;
    start = end;
    yield;
  }
  const [head, tail] = [wholeEnd(text, kept), wholeEnd(text, text.length - kept)];
  const middle = `\n… [cut: ${bytes} bytes in all, SHA-256 ${hash.digest('hex')}] …\n`;
  room.left -= 2 * kept + middle.length;
  return text.slice(0, head) + middle + text.slice(tail);
}

/** The position, or the one before it where it would divide a character. */
function wholeEnd(text: string, position: number): number {
  if (position >= text.length) return text.length;
  const code = text.charCodeAt(position);
  return code >= 0xdc00 && code <= 0xdfff && position > 0 ? position - 1 : position;
}
