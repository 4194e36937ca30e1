/** The settings that an import has found so far, and what it could not take over. */
import { isTable, type Table } from '../plain-table.js';
import { isSecretName } from '../redact.js';

/** Takes a value over. What it returns says why that was not possible, or not as it stood. */
export type Mapping = (value: unknown, output: Output) => string | undefined;

/** What there is here. */
export interface Installation {
  readonly backends: readonly string[];
  readonly plugins: readonly string[];
}

export class Output {
  readonly settings: Table = {};
  readonly notes: { key: string; reason: string }[] = [];
  /** The backend that the cells are on; undefined where this installation has none of that kind. */
  readonly backend: string | undefined;
  /** The plugins that cells have without being asked. */
  readonly plugins: readonly string[];

  constructor({ backends, plugins }: Installation, runtime: string) {
    // Its remote runtime is a service of another protocol than the backend of that name.
    this.backend = runtime !== 'remote' && backends.includes(runtime) ? runtime : undefined;
    this.plugins = plugins;
  }

  /** `key` with the section first, such as `sandbox.timeout`. */
  set(key: string, value: unknown): void {
    if (value === undefined || value === null) return;
    const names = key.split('.');
    const last = names.pop() ?? key;
    let table = this.settings;
    for (const name of names) {
      const inner = isTable(table[name]) ? table[name] : {};
      table[name] = inner;
      table = inner;
    }
    const before = table[last];
    table[last] = isTable(before) && isTable(value) ? { ...before, ...value } : value;
  }

  has(key: string): boolean {
    let value: unknown = this.settings;
    for (const name of key.split('.')) value = isTable(value) ? value[name] : undefined;
    return value !== undefined;
  }

  note(key: string, reason: string): void {
    this.notes.push({ key, reason });
  }

  /** A secret does not move to another file: it is referred to, and the user puts it where the reference leads. */
  refer(name: string, key: string): string {
    this.set(`secrets.${name}`, { env: name, reach: 'env' });
    this.note(
      key,
      `it is a secret, which is not copied: set the variable ${name} to it, or change [secrets.${name}]`,
    );
    return `\${${name}}`;
  }

  /** Variables of a program, with those that are called like secrets referred to. */
  variables(given: Table, key: string): Record<string, string> {
    const entries = Object.entries(given).map(([name, value]) => {
      const text = String(value);
      return [name, isSecretName(name) && text !== '' ? this.refer(name, `${key}.${name}`) : text];
    });
    return Object.fromEntries(entries);
  }
}
