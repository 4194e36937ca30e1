/** Cells that somebody started with `keepAlive`, of all backends that can find theirs again. */
import { readSettings, reasonOf } from './assemble.js';
import type { Backend, CellInfo } from './backends/backend.js';
import {
  type BackendPlace,
  type BackendSpec,
  backendNames,
  checkBackend,
  isBackendName,
  loadBackend,
} from './backends/index.js';
import type { LoadedConfig } from './config/load-config.js';
import { resolveBackend } from './config/outside-backends.js';
import { WorkcellError } from './protocol/index.js';

/** Where to look for kept cells. The configuration supplies what you do not give here. */
export interface CellPlace extends BackendPlace {
  /** Default: every backend of this package, and those that the configuration names, that can find their cells again. */
  backend?: BackendSpec | undefined;
  /**
   * The configuration file; `false` ignores all files and `WORKCELL_*`. Default: the user's own file and the
   * project's.
   */
  config?: string | false | undefined;
}

/** Which cells `listCells` looks for, and whom it tells about a backend that does not answer. */
export interface ListCellsOptions extends CellPlace {
  /** Called for each backend that does not answer now. With a named backend, that is an error instead. */
  onUnavailable?: ((backend: string, reason: string) => void) | undefined;
}

type KeepingBackend = Backend & Required<Pick<Backend, 'attach' | 'list'>>;

/** A backend that can find its cells again. */
export interface Keeper {
  /** What leads to it in a reference to a cell. */
  readonly name: string;
  readonly backend: KeepingBackend;
}

/** The kept cells, the latest start first. */
export async function listCells(options: ListCellsOptions = {}): Promise<CellInfo[]> {
  const { backend: named, onUnavailable } = options;
  const asked = named === undefined ? undefined : [await keeper(named, 'list cells')];
  const config = await readSettings(options, { backend: asked?.[0]?.backend });
  const keeps = asked ?? (await keepers(config, onUnavailable));
  const place = givenPlace(keeps, options, asked === undefined ? [] : await keepers());
  const found = await Promise.all(
    keeps.map(async ({ name, backend }) => {
      try {
        const where = placeOf(backend, config, place);
        if (named === undefined && isNowhere(backend, where)) return [];
        const cells = await backend.list(where);
        return cells.map((cell) => ({ ...cell, backend: name }));
      } catch (error) {
        // A foreign backend that fails in any way must not hide the cells of the others.
        if (named !== undefined || (isBackendName(name) && !isUnavailable(error))) throw error;
        onUnavailable?.(backend.type, reasonOf(error));
        return [];
      }
    }),
  );
  return found.flat().sort((a, b) => (b.startedAt?.getTime() ?? 0) - (a.startedAt?.getTime() ?? 0));
}

/** A named backend, or a backend object, which must be able to find its cells again. */
export async function keeper(spec: BackendSpec | string, what: string): Promise<Keeper> {
  if (typeof spec === 'object') {
    const backend = checkBackend(spec, 'The option backend');
    return { name: backend.type, backend: await checkKeeps(backend, what) };
  }
  const name = resolveBackend(spec, { source: 'option', from: process.cwd() });
  return { name, backend: await checkKeeps(await loadBackend(name), what) };
}

/** Refuses a backend that cannot find its cells again. */
export async function checkKeeps(backend: Backend, what: string): Promise<KeepingBackend> {
  if (canKeep(backend)) return backend;
  throw new WorkcellError(
    'capability-unsupported',
    `Backend "${backend.type}" cannot ${what}. Those that can: ${(await keepers()).map(({ name }) => name).join(', ')}.`,
    { details: { backend: backend.type } },
  );
}

type GivenPlace = Readonly<Record<string, unknown>>;

/** What a backend needs to look in the right place. */
export function placeOf(backend: Backend, config: LoadedConfig, given: GivenPlace): Record<string, unknown> {
  const options = [config.backendOptions[backend.type] ?? {}, given].flatMap((each) => Object.entries(each));
  return Object.fromEntries(
    options.filter(([name, value]) => value !== undefined && Object.hasOwn(backend.place.shape, name)),
  );
}

/**
 * Those of the options that say where cells are. What these backends do not know, and others do, would lead to the wrong
 * place.
 */
export function givenPlace(
  asked: readonly Keeper[],
  options: object,
  others: readonly Keeper[] = [],
): GivenPlace {
  const known = placeNames(asked);
  const all = placeNames([...asked, ...others]);
  const given = Object.entries(options).filter(([name, value]) => value !== undefined && all.includes(name));
  const foreign = given.find(([name]) => !known.includes(name))?.[0];
  if (foreign === undefined) return Object.fromEntries(given);
  throw new WorkcellError(
    'invalid-config',
    `"${foreign}" does not say where cells of ${asked.map(({ backend }) => backend.type).join(', ')} are. Accepted: ${known.join(', ') || 'none'}.`,
    { details: { option: foreign } },
  );
}

/** Names of what these backends take to find their cells. */
export function placeNames(asked: readonly Keeper[]): string[] {
  return [...new Set(asked.flatMap(({ backend }) => Object.keys(backend.place.shape)))];
}

/**
 * Every backend of this package, and of those that a configuration names, that can find its cells again. Reports
 * those that do not load.
 */
export async function keepers(
  { outside }: Pick<LoadedConfig, 'outside'> = { outside: [] },
  onUnavailable?: ListCellsOptions['onUnavailable'],
): Promise<Keeper[]> {
  const own = backendNames.map(async (name) => [{ name, backend: await loadBackend(name) }]);
  const others = outside.map(async ({ name, load }) => {
    try {
      return [{ name, backend: await load() }];
    } catch (error) {
      onUnavailable?.(name, reasonOf(error));
      return [];
    }
  });
  const all = (await Promise.all([...own, ...others])).flat();
  return all.flatMap(({ name, backend }) => (canKeep(backend) ? [{ name, backend }] : []));
}

function canKeep(backend: Backend): backend is KeepingBackend {
  return backend.attach !== undefined && backend.list !== undefined;
}

/**
 * True for a backend that needs to know where its cells are, and does not: nobody could know of any. Also for a vendor's that
 * nobody named.
 */
function isNowhere({ place, elsewhere }: Backend, where: GivenPlace): boolean {
  return Object.keys(where).length === 0 && (elsewhere === true || !place.safeParse(where).success);
}

function isUnavailable(error: unknown): error is WorkcellError {
  return WorkcellError.isInstance(error) && error.code === 'backend-unavailable';
}
