/** Variables of this process that hold secrets: programs that it starts for cells do not inherit them. */
const hidden = new Set<string>();

export function hideVariable(name: string): void {
  hidden.add(name);
}

/** The environment of this process, without its hidden variables. */
export function inheritedEnvironment(): Record<string, string> {
  const entries = Object.entries(process.env).filter(
    (entry): entry is [string, string] => entry[1] !== undefined && !hidden.has(entry[0]),
  );
  return Object.fromEntries(entries);
}
