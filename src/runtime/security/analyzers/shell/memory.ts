/** What earlier actions left in a cell: a script in pieces has the same meaning as a whole one. */
import type { Function as FunctionNode } from 'unbash';
import type { Scope } from './scope.js';

/** What a shell keeps from one command to the next. */
interface Shell {
  readonly variables: ReadonlyMap<string, string>;
  readonly functions: ReadonlyMap<string, FunctionNode>;
  readonly aliases: ReadonlyMap<string, string>;
  readonly references: ReadonlyMap<string, string>;
  readonly cwd: string;
}

const mostShells = 256;
const mostEntries = 512;
/** Do not follow longer files. */
const longestText = 50_000;
const mostText = 1_000_000;

/** One for each cell. It learns only from allowed actions. */
export class Memory {
  readonly #shells = new Map<string, Shell>();
  #environment: ReadonlyMap<string, string> = new Map();
  #downloaded: ReadonlySet<string> = new Set();
  #renamed: ReadonlyMap<string, string> = new Map();
  #written: ReadonlyMap<string, string> = new Map();
  #version = 0;

  /** Another number whenever an action may have left something. */
  get version(): number {
    return this.#version;
  }

  /** `session`: the shell in which the scope continues, if that shell stays. */
  bring(scope: Scope, session: string | undefined): void {
    for (const place of this.#downloaded) scope.downloaded.add(place);
    copy(this.#renamed, scope.renamed);
    copy(this.#written, scope.written);
    for (const [name, text] of this.#environment) scope.set(name, text);
    const shell = session === undefined ? undefined : this.#shells.get(session);
    if (shell === undefined) return;
    for (const [name, text] of shell.variables) scope.set(name, text);
    copy(shell.functions, scope.functions);
    copy(shell.aliases, scope.aliases);
    copy(shell.references, scope.references);
    scope.cwd = shell.cwd;
  }

  keepFiles(scope: Scope): void {
    this.#version++;
    this.#downloaded = new Set([...scope.downloaded].slice(-mostEntries));
    this.#renamed = latest(scope.renamed);
    this.#written = latest(scope.written, longestText);
  }

  keepShell(session: string, scope: Scope, cwd: string): void {
    const variables = new Map([...scope.variables].map(([name, { text }]) => [name, text]));
    this.#version++;
    this.#shells.delete(session);
    this.#shells.set(session, {
      variables: latest(variables, longestText),
      functions: latest(scope.functions),
      aliases: latest(scope.aliases),
      references: latest(scope.references),
      cwd,
    });
    if (this.#shells.size > mostShells) this.#shells.delete(this.#shells.keys().next().value ?? '');
  }

  keepVariables(variables: readonly (readonly [string, string])[]): void {
    this.#version++;
    this.#environment = latest(new Map([...this.#environment, ...variables]), longestText);
  }
}

function copy<Value>(from: ReadonlyMap<string, Value>, to: Map<string, Value>): void {
  for (const [key, value] of from) to.set(key, value);
}

/** The newest entries, as many as are worth their memory. */
function latest<Value>(
  map: ReadonlyMap<string, Value>,
  longest = Number.POSITIVE_INFINITY,
): ReadonlyMap<string, Value> {
  let left = mostText;
  const kept = [...map]
    .slice(-mostEntries)
    .reverse()
    .filter(([, value]) => {
      if (typeof value !== 'string') return true;
      left -= value.length;
      return value.length <= longest && left >= 0;
    });
  return new Map(kept.reverse());
}
