/**
 * Backends that are not of this package, as far as trusted sources name them. They are code that runs on this side, so it is
 * settled who names them, and none is loaded before something needs it.
 */
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Backend } from '../backends/backend.js';
import {
  backendNames,
  isBackendName,
  loadBackend,
  locateBackend,
  reservedNames,
  unknownBackend,
} from '../backends/index.js';
import { isModulePath } from '../base/resolve-import.js';
import { configDirectory } from '../base/user-directories.js';
import { WorkcellError } from '../protocol/errors.js';
import { relativeInVariable } from './named-code.js';
import { didYouMean, nearest } from './nearest.js';

/** A backend that may have settings of its own. */
export interface NamedBackend {
  /** What `loadBackend` takes, or the type of one that was given as an object. */
  readonly name: string;
  load(): Promise<Backend>;
}

/** Where a name was written. */
export interface NameSource {
  /** A path, a variable's name, or `option`. */
  readonly source: string;
  /** What a relative path starts from. Undefined for a variable. */
  readonly from: string | undefined;
}

/** Those that were named so far. */
export class OutsideBackends {
  readonly #named: Map<string, NamedBackend>;

  constructor(known: readonly NamedBackend[] = []) {
    this.#named = new Map(known.map((named) => [named.name, named]));
  }

  /** One that is at hand. */
  give(backend: Backend): void {
    if (isBackendName(backend.type)) return;
    this.#named.set(backend.type, { name: backend.type, load: async () => backend });
  }

  /** Adds what a source names. What may not be named there is refused when the value itself is read. */
  note(spec: unknown, source: NameSource): void {
    const name = typeof spec === 'string' ? attempt(() => resolveBackend(spec, source)) : undefined;
    if (name === undefined || isBackendName(name)) return;
    this.#named.set(name, { name, load: () => loadBackend(name) });
  }

  get all(): readonly NamedBackend[] {
    return [...this.#named.values()];
  }

  async ofType(type: string): Promise<Backend | undefined> {
    return (await this.load()).find((backend) => backend.type === type);
  }

  load(): Promise<Backend[]> {
    return Promise.all(this.all.map((named) => named.load()));
  }
}

/** The value of `backend` as `loadBackend` takes it; a name that leads nowhere throws. */
export function resolveBackend(spec: string, named: NameSource): string {
  const { source, from } = named;
  if (isBackendName(spec)) return spec;
  if (from === undefined && isModulePath(spec) && !/^(\/|file:)/.test(spec))
    throw relativeInVariable(source, { what: 'backend', name: spec, beside: true });
  const meant = isModulePath(spec) ? undefined : nearest(spec, [...backendNames, ...reservedNames]);
  // A package of nearly the same name could have been put there for those who mistype.
  const mistyped = meant !== undefined && Math.abs(meant.length - spec.length) <= 1;
  const places = mistyped ? [] : placesOf(spec, named);
  const found = places.map((place) => locateBackend(spec, place)).find((address) => address !== undefined);
  if (found !== undefined) return found;
  const { message } = unknownBackend(spec);
  const about = `backend = ${JSON.stringify(spec)} (from ${source}) is not accepted.`;
  // A name typed by a caller is a mistake in the call; one in a file or a variable is a mistake in the set-up.
  throw new WorkcellError(
    source === 'option' ? 'backend-unknown' : 'invalid-config',
    `${about}${didYouMean(meant === spec ? undefined : meant)} ${message}`,
    { details: { key: 'backend', value: spec, source } },
  );
}

/**
 * Where a package or file is looked for: from the file that names it, or else among what you installed. The working directory
 * may be what an agent works in, so what is there is named by its path.
 */
function placesOf(spec: string, { source, from }: NameSource): string[] {
  if (from !== undefined && (source !== 'option' || isModulePath(spec))) return [from];
  return [configDirectory(), dirname(fileURLToPath(import.meta.url))];
}

function attempt<Result>(work: () => Result): Result | undefined {
  try {
    return work();
  } catch {
    return undefined;
  }
}
