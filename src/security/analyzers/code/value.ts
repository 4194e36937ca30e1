/** What is known of a value in code before it runs: its text, with `\0` for what is not known, and its parts. */
import { unknownText } from '../paths/place.js';

export interface Value {
  readonly text: string;
  readonly items?: readonly Value[] | undefined;
}

export const unknownValue: Value = { text: unknownText };

export function textValue(text: string): Value {
  return { text };
}

export function listValue(items: readonly Value[]): Value {
  return { text: items.map((item) => item.text).join(' '), items };
}

/** Parts of a path put together, where one that begins at the root starts again. */
export function joinPaths(parts: readonly Value[]): Value {
  let path = '';
  for (const { text } of parts) {
    if (path === '' || /^[/~]/.test(text)) path = text;
    else path = `${path.replace(/\/+$/, '')}/${text.replace(/^\.?\/+/, '')}`;
  }
  return textValue(path);
}
