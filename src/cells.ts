/** Cells that were started with `keepAlive`, of all backends that can find theirs again. */
import { readSettings, reasonOf } from './assemble.js';
import type { Backend, CellInfo } from './backends/backend.js';
import { type BackendName, type BackendPlace, backendNames, loadBackend } from './backends/index.js';
import type { LoadedConfig } from './config/load-config.js';
import { WorkcellError } from './protocol/index.js';

/** Where kept cells are looked for. What backends take for that is as configured where it is not given here. */
export interface CellPlace extends BackendPlace {
  /** Default: every backend that can find its cells again. */
  backend?: BackendName | undefined;
  /** The configuration file; `false` ignores all files and `WORKCELL_*`. Default: the user's own file and that of the project. */
  config?: string | false | undefined;
}

/** Which cells `listCells` looks for, and whom it tells about a backend that does not answer. */
export interface ListCellsOptions extends CellPlace {
  /** Told of each backend that cannot be asked now. With a backend named, that is an error instead. */
  onUnavailable?: ((backend: BackendName, reason: string) => void) | undefined;
}

/** The cells that are kept alive, those that were started last first. */
export async function listCells(options: ListCellsOptions = {}): Promise<CellInfo[]> {
  const config = await readSettings(options);
  const { backend: named, onUnavailable } = options;
  const asked = named === undefined ? await keepers() : [await keeper(named, 'list cells')];
  const place = await givenPlace(asked, options);
  const found = await Promise.all(
    asked.map(async (backend) => {
      try {
        return await backend.list(placeOf(backend, config, place));
      } catch (error) {
        if (named !== undefined || !isUnavailable(error)) throw error;
        onUnavailable?.(backend.type as BackendName, reasonOf(error));
        return [];
      }
    }),
  );
  return found.flat().sort((a, b) => (b.startedAt?.getTime() ?? 0) - (a.startedAt?.getTime() ?? 0));
}

/** The backend by that name, which must be one that can find its cells again. */
export async function keeper(name: string, what: string): Promise<Required<Backend>> {
  const backend = await loadBackend(name);
  if (isKeeper(backend)) return backend;
  throw new WorkcellError(
    'capability-unsupported',
    `Backend "${name}" cannot ${what}. Those that can: ${(await keepers()).map(({ type }) => type).join(', ')}.`,
    { details: { backend: name } },
  );
}

type GivenPlace = Readonly<Record<string, unknown>>;

/** What a backend is told so that it looks in the right place. */
export function placeOf(backend: Backend, config: LoadedConfig, given: GivenPlace): Record<string, unknown> {
  const options = [config.backendOptions[backend.type] ?? {}, given].flatMap((each) => Object.entries(each));
  return Object.fromEntries(
    options.filter(([name, value]) => value !== undefined && Object.hasOwn(backend.place.shape, name)),
  );
}

/** Those of the options that say where cells are. What these backends do not know would lead to the wrong place. */
export async function givenPlace(asked: readonly Backend[], options: object): Promise<GivenPlace> {
  const known = placeNames(asked);
  const all = placeNames(await keepers());
  const given = Object.entries(options).filter(([name, value]) => value !== undefined && all.includes(name));
  const foreign = given.find(([name]) => !known.includes(name))?.[0];
  if (foreign === undefined) return Object.fromEntries(given);
  throw new WorkcellError(
    'invalid-config',
    `"${foreign}" does not say where cells of ${asked.map(({ type }) => type).join(', ')} are. Accepted: ${known.join(', ') || 'none'}.`,
    { details: { option: foreign } },
  );
}

/** Names of what these backends take to find their cells. */
export function placeNames(asked: readonly Backend[]): string[] {
  return [...new Set(asked.flatMap(({ place }) => Object.keys(place.shape)))];
}

/** Every backend that can find its cells again. */
export async function keepers(): Promise<Required<Backend>[]> {
  return (await Promise.all(backendNames.map(loadBackend))).filter(isKeeper);
}

function isKeeper(backend: Backend): backend is Required<Backend> {
  return backend.attach !== undefined && backend.list !== undefined;
}

function isUnavailable(error: unknown): error is WorkcellError {
  return WorkcellError.isInstance(error) && error.code === 'backend-unavailable';
}
