/**
 * Backends from outside this package that trusted sources name. Their code runs on the trusted side, so only such
 * sources may name them, and we load none before something needs it.
 */
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Backend } from '../backends/backend.js';
import {
  backendNames,
  isBackendName,
  loadBackend,
  locateBackend,
  unknownBackend,
} from '../backends/index.js';
import { isModulePath } from '../base/resolve-import.js';
import { configDirectory } from '../base/user-directories.js';
import { WorkcellError } from '../protocol/errors.js';
import { didYouMean, nearest } from '../protocol/nearest.js';
import { relativeInVariable } from './named-code.js';

/** A backend that can have its own settings. */
export interface NamedBackend {
  /** The argument for `loadBackend`, or the type of a backend given as an object. */
  readonly name: string;
  load(): Promise<Backend>;
}

/** Where a name stands. */
export interface NameSource {
  /** A path, a variable's name, or `option`. */
  readonly source: string;
  /** What a relative path starts from. Undefined for a variable. */
  readonly from: string | undefined;
}

/** The names so far. */
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

  /** Adds the backend that a source names. Reading the value itself refuses a name that may not stand there. */
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

/** The value of `backend` in the form that `loadBackend` takes; throws for a name that leads nowhere. */
export function resolveBackend(spec: string, named: NameSource): string {
  const { source, from } = named;
  if (isBackendName(spec)) return spec;
  if (from === undefined && isModulePath(spec) && !/^(\/|file:)/.test(spec))
    throw relativeInVariable(source, { what: 'backend', name: spec, beside: true });
  const meant = isModulePath(spec) ? undefined : nearest(spec, backendNames);
  // Somebody could have put a package of nearly the same name there for those who mistype.
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
 * Where to look for a package or file: from the file that names it, or else among your installed packages. The
 * working directory may be an agent's workspace, so name a file in it by its path.
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
