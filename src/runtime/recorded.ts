/** What the record keeps of an action or a result: all of a usual one, and the shape of one that is too large. */

/** An event has no more characters than this, so that a store writes it within milliseconds. */
const mostCharacters = 1024 * 1024;

/** What each value counts besides its text. */
const perValue = 16;

/** The value itself when it is small enough. */
export function recorded<Value extends object>(value: Value): Value | Promise<Value> {
  return sizeUpTo(value, mostCharacters) <= mostCharacters ? value : shortened(value);
}

async function shortened<Value extends object>(value: Value): Promise<Value> {
  const { shorten } = await import('./shortened.js');
  return (await shorten(value, { characters: mostCharacters, perValue })) as Value;
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
