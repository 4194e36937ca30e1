/** Shortens what is too large for the record, in turns with other work. */
import { createHash } from 'node:crypto';
import { inTurns, type Steps } from '../base/pace.js';

/** Characters of one step. */
const stepLength = 262_144;

/**
 * The shape of a value, with the beginning and the end of long texts. `perValue`: what each value counts besides its text.
 * `levels`: how deep it goes; `…` stands for what is below.
 */
export async function shorten(
  value: object,
  limits: { characters: number; perValue: number; levels: number },
): Promise<object> {
  const room = { left: limits.characters, perValue: limits.perValue };
  return (await inTurns(shortened(value, room, limits.levels))) as object;
}

interface Room {
  left: number;
  readonly perValue: number;
}

function* shortened(value: unknown, room: Room, levels: number): Steps<unknown> {
  room.left -= room.perValue;
  if (typeof value === 'string') return yield* shortenedText(value, room);
  if (typeof value !== 'object' || value === null) return value;
  if (levels === 0) return '…';
  if (Array.isArray(value)) {
    const items: unknown[] = [];
    for (const item of value) {
      if (room.left <= 0) return [...items, `… ${value.length - items.length} more`];
      items.push(yield* shortened(item, room, levels - 1));
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
    fields.push([key, yield* shortened((value as Record<string, unknown>)[key], room, levels - 1)]);
  }
  yield;
  return Object.fromEntries(fields);
}

/** The beginning and the end of a long text, and what tells the whole of it from others. */
function* shortenedText(text: string, room: Room): Steps<string> {
  const kept = Math.max(room.left >> 2, 0);
  if (text.length <= Math.max(2 * kept, room.perValue)) {
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
