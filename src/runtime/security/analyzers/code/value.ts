/** What we know of a value in code before it runs: its text, with `\0` for unknown parts, and its parts. */
import { withoutEnd } from '../../../../base/without-end.js';
import { unknownText } from '../paths/place.js';

export interface Value {
  readonly text: string;
  readonly items?: readonly Value[] | undefined;
}

export const unknownValue: Value = { text: unknownText };

/** Do not follow text that grows without end, as by doubling. */
const longestText = 16_384;

export function textValue(text: string): Value {
  return text.length > longestText ? unknownValue : { text };
}

/** Replaces each match by a text, unless the result would be too long to follow. */
export function replaced(text: string, place: RegExp | string, by: string): Value {
  const places = typeof place === 'string' ? text.split(place).length : text.length / 2;
  if (places * by.length > longestText) return unknownValue;
  return textValue(typeof place === 'string' ? text.replaceAll(place, by) : text.replace(place, () => by));
}

export function listValue(items: readonly Value[]): Value {
  const kept = items.slice(0, mostItems);
  return { text: textValue(kept.map((item) => item.text).join(' ')).text, items: kept };
}

const mostItems = 256;

/** Parts of a path put together, where one that begins at the root starts again. */
export function joinPaths(parts: readonly Value[]): Value {
  let path = '';
  for (const { text } of parts) {
    if (path === '' || /^[/~]/.test(text)) path = text;
    else path = `${withoutEnd(path, '/')}/${text.replace(/^\.?\/+/, '')}`;
  }
  return textValue(path);
}
