/** Cells that were started with `keepAlive`, of all backends that can find theirs again. */
import { readSettings, reasonOf } from './assemble.js';
import type { Backend, CellInfo } from './backends/backend.js';
import { type BackendName, backendNames, loadBackend } from './backends/index.js';
import type { LoadedConfig } from './config/load.js';
import { WorkcellError } from './protocol/index.js';

/** Where kept cells are looked for. */
export interface CellPlace {
  /** Default: every backend that can find its cells again. */
  backend?: BackendName | undefined;
  /** The Docker Engine. Default: as configured, `DOCKER_HOST`, or the machine's own. */
  engine?: string | undefined;
  /** The configuration file; `false` ignores all files and `WORKCELL_*`. Default: the user's own file and that of the project. */
  config?: string | false | undefined;
}

export interface ListCellsOptions extends CellPlace {
  /** Told of each backend that cannot be asked now. With a backend named, that is an error instead. */
  onUnavailable?: ((backend: BackendName, reason: string) => void) | undefined;
}

/** The cells that are kept alive, those that were started last first. */
export async function listCells(options: ListCellsOptions = {}): Promise<CellInfo[]> {
  const config = await readSettings(options);
  const { backend: named, onUnavailable } = options;
  const found =
    named === undefined
      ? await Promise.all(
          (await keepers()).map((backend) => listAll(backend, config, options, onUnavailable)),
        )
      : [await listOne(await keeper(named, 'list cells'), config, options)];
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

/** What a backend is told so that it looks in the right place. */
export function placeOf(
  backend: Backend,
  config: LoadedConfig,
  { engine }: CellPlace,
): Record<string, unknown> {
  const options: Record<string, unknown> = { ...config.backendOptions[backend.type] };
  if (engine !== undefined) options.engine = engine;
  return Object.fromEntries(Object.entries(options).filter(([name]) => backend.place.includes(name)));
}

async function keepers(): Promise<Required<Backend>[]> {
  return (await Promise.all(backendNames.map(loadBackend))).filter(isKeeper);
}

function isKeeper(backend: Backend): backend is Required<Backend> {
  return backend.attach !== undefined && backend.list !== undefined;
}

async function listAll(
  backend: Required<Backend>,
  config: LoadedConfig,
  place: CellPlace,
  onUnavailable: ListCellsOptions['onUnavailable'],
): Promise<CellInfo[]> {
  try {
    return await listOne(backend, config, place);
  } catch (error) {
    if (!WorkcellError.isInstance(error) || error.code !== 'backend-unavailable') throw error;
    onUnavailable?.(backend.type as BackendName, reasonOf(error));
    return [];
  }
}

function listOne(backend: Required<Backend>, config: LoadedConfig, place: CellPlace): Promise<CellInfo[]> {
  return backend.list(placeOf(backend, config, place));
}
