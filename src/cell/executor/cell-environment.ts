/** The variables of a cell. Each change has a number, so that a running shell can catch up with what it missed. */
export class Environment {
  readonly #variables: Map<string, string>;
  readonly #changes: { name: string; value: string | undefined }[] = [];

  constructor(initial: Readonly<Record<string, string>>) {
    this.#variables = new Map(Object.entries(initial));
  }

  /** The number of changes so far. */
  get version(): number {
    return this.#changes.length;
  }

  all(): Record<string, string> {
    return Object.fromEntries(this.#variables);
  }

  set(name: string, value: string): void {
    this.#variables.set(name, value);
    this.#changes.push({ name, value });
  }

  unset(name: string): void {
    this.#variables.delete(name);
    this.#changes.push({ name, value: undefined });
  }

  /** Changes since a version: the last value of each name, undefined for removed ones. */
  since(version: number): Map<string, string | undefined> {
    return new Map(this.#changes.slice(version).map(({ name, value }) => [name, value]));
  }
}
