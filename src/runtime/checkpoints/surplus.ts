/** Which checkpoints a runtime has too many of. */
import type { Kept } from './checkpoint-list.js';

export interface Bounds {
  readonly keep: number;
  readonly maxBytes?: number | undefined;
}

/**
 * The oldest go first; never those just used. A cell causes automatic ones at will, so they take the place of no other, and
 * together no more space than one checkpoint may.
 */
export function surplus(
  kept: readonly Kept[],
  { keep, maxBytes = Infinity }: Bounds,
  current: readonly string[],
): string[] {
  const automatic = kept.filter(({ isAutomatic }) => isAutomatic);
  const others = kept.filter(({ isAutomatic }) => !isAutomatic);
  return [...over(automatic, keep, maxBytes, current), ...over(others, keep, Infinity, current)];
}

function over(list: readonly Kept[], keep: number, maxBytes: number, current: readonly string[]): string[] {
  let count = list.length;
  let bytes = list.reduce((sum, { held }) => sum + held.layer.ownBytes, 0);
  const going: string[] = [];
  for (const { checkpoint, held } of list) {
    if (count <= keep && bytes <= maxBytes) break;
    if (current.includes(checkpoint.id)) continue;
    going.push(checkpoint.id);
    count--;
    bytes -= held.layer.ownBytes;
  }
  return going;
}
