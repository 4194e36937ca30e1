/** The settings that an import has found so far, and what it could not import. */
import { isTable, type Table } from '../plain-table.js';
import { mayBeSecret } from './secret-values.js';

/** Imports a value. Returns the reason when that is not possible, or not unchanged. */
export type Mapping = (value: unknown, output: Output) => string | undefined;

/** What there is here. */
export interface Installation {
  readonly backends: readonly string[];
  readonly plugins: readonly string[];
}

export class Output {
  readonly settings: Table = emptyTable();
  readonly notes: { key: string; reason: string }[] = [];
  /** The backend that the cells are on; undefined where this installation has none of that kind. */
  readonly backend: string | undefined;
  /** The default plugins of cells. */
  readonly plugins: readonly string[];
  /** Variables of this machine that programs in the imported file ask for. */
  readonly #asked = new Set<string>();

  constructor({ backends, plugins }: Installation, runtime: string) {
    // OpenHands' remote runtime speaks another protocol than the backend of that name.
    this.backend = runtime !== 'remote' && backends.includes(runtime) ? runtime : undefined;
    this.plugins = plugins;
  }

  /**
   * `key` with the section first, such as `sandbox.timeout`. The file's own name for an entry comes after it, as
   * `name`.
   */
  set(key: string, value: unknown, name?: string): void {
    if (value === undefined || value === null) return;
    const steps = name === undefined ? key.split('.') : [...key.split('.'), name];
    const last = steps.pop() ?? key;
    let table = this.settings;
    for (const step of steps) {
      const known = own(table, step);
      const inner = isTable(known) ? known : emptyTable();
      table[step] = inner;
      table = inner;
    }
    const before = own(table, last);
    table[last] = isTable(before) && isTable(value) ? { ...before, ...value } : value;
  }

  has(key: string): boolean {
    let value: unknown = this.settings;
    for (const step of key.split('.')) value = isTable(value) ? own(value, step) : undefined;
    return value !== undefined;
  }

  note(key: string, reason: string): void {
    this.notes.push({ key, reason });
  }

  /**
   * A secret does not move to another file: the result refers to it, and the user puts it where the reference leads.
   */
  refer(name: string, key: string): string {
    const isAsked = this.#asked.has(name);
    this.set('secrets', isAsked ? { env: name } : { env: name, reach: 'env' }, name);
    this.note(
      key,
      `it may be a secret, which is not copied: set the variable ${name} to it, or change [secrets.${name}]`,
    );
    return `\${${name}}`;
  }

  /** Variables for commands, with references in place of possible secrets. */
  variables(given: Table, key: string): Record<string, string> {
    return this.#variables(given, (name) => this.refer(name, `${key}.${name}`));
  }

  /**
   * The same for a program that the imported file chose: it gets no secret of this machine before the user agrees.
   */
  variablesOfProgram(given: Table, key: string): Record<string, string> {
    return this.#variables(given, (name) => {
      this.#asked.add(name);
      const secrets = own(this.settings, 'secrets');
      const known = isTable(secrets) ? own(secrets, name) : undefined;
      if (isTable(known)) delete known.reach;
      else this.set('secrets', { env: name }, name);
      this.note(
        `${key}.${name}`,
        `it may be a secret, which is not copied, and the imported file chose the program that asks for it: set the variable ${name} to it, and add reach = "env" to [secrets.${name}] if the program may have it`,
      );
      return `\${${name}}`;
    });
  }

  #variables(given: Table, refer: (name: string) => string): Record<string, string> {
    const entries = Object.entries(given).map(([name, value]) => {
      const text = String(value);
      return [name, mayBeSecret(name, text) ? refer(name) : text];
    });
    return Object.fromEntries(entries);
  }
}

/** Names come from a foreign file, and `__proto__` can be one of them. */
function emptyTable(): Table {
  return Object.create(null) as Table;
}

function own(table: Table, name: string): unknown {
  return Object.hasOwn(table, name) ? table[name] : undefined;
}
