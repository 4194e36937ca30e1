/** Settings as nested objects of JSON. */
export type Settings = Record<string, unknown>;

/** Merges objects deeply; anything else, lists included, replaces the old value. */
export function merge(base: Settings, difference: Settings): Settings {
  const merged: Settings = { ...base };
  for (const [name, value] of Object.entries(difference)) {
    const before = merged[name];
    merged[name] = isSettings(before) && isSettings(value) ? merge(before, value) : value;
  }
  return merged;
}

function isSettings(value: unknown): value is Settings {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
