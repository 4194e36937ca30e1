/** Merges our pod into the user's template. */

type Part = Readonly<Record<string, unknown>>;

/**
 * Ours wins where both set something. Merges lists by the names of their items where they have names, and joins the
 * others. So additions of the user (a sidecar, a volume, a toleration) stay. What they may add is not decided here.
 */
export function mergeManifest(given: unknown, ours: unknown): unknown {
  if (Array.isArray(given) && Array.isArray(ours)) return mergeLists(given, ours);
  if (!isPart(given) || !isPart(ours)) return ours ?? given;
  const names = [...new Set([...Object.keys(given), ...Object.keys(ours)])];
  return Object.fromEntries(names.map((name) => [name, mergeManifest(given[name], ours[name])]));
}

function mergeLists(given: readonly unknown[], ours: readonly unknown[]): unknown[] {
  const keyOf = (item: unknown) => (isPart(item) ? (item.mountPath ?? item.name) : undefined);
  const named = new Map(ours.filter((item) => keyOf(item) !== undefined).map((item) => [keyOf(item), item]));
  const merged = given.map((item) => {
    const key = keyOf(item);
    const own = key === undefined ? undefined : named.get(key);
    named.delete(key);
    return own === undefined ? item : mergeManifest(item, own);
  });
  const rest = ours.filter((item) => keyOf(item) === undefined || named.has(keyOf(item)));
  return [...merged, ...rest];
}

function isPart(value: unknown): value is Part {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
