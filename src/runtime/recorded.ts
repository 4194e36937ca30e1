/** What the record keeps of an action or a result: all of a usual one, and the shape of one that is too large. */

/** An event has no more characters than this, so that a store writes it within milliseconds. */
const mostCharacters = 1024 * 1024;

/** What each value counts besides its text. */
const perValue = 16;

/** Values inside one another. The record, its stores and its readers look at them by recursion. */
const mostLevels = 100;

/** The value itself when it is small enough. */
export function recorded<Value extends object>(value: Value): Value | Promise<Value> {
  return sizeUpTo(value, mostCharacters, mostLevels) <= mostCharacters ? value : shortened(value);
}

async function shortened<Value extends object>(value: Value): Promise<Value> {
  const { shorten } = await import('./shortened.js');
  return (await shorten(value, { characters: mostCharacters, perValue, levels: mostLevels })) as Value;
}

/** Stops counting beyond the limit. What has too many levels is too large, too. */
function sizeUpTo(value: unknown, limit: number, levels: number): number {
  if (typeof value === 'string') return perValue + value.length;
  if (typeof value !== 'object' || value === null) return perValue;
  if (levels === 0) return Number.POSITIVE_INFINITY;
  let size = perValue;
  for (const key in value) {
    size += key.length + sizeUpTo((value as Record<string, unknown>)[key], limit - size, levels - 1);
    if (size > limit) break;
  }
  return size;
}
