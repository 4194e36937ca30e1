import {
  addTools,
  type CommonOptions,
  checkIsolation,
  demandOf,
  networkAsker,
  onLostOf,
  readPlugins,
  readSecurity,
  readServers,
  readSettings,
  readTools,
  runDefaults,
  statusListener,
  storeOf,
  takeActions,
  withHistory,
} from './assemble.js';
import type { CellRef } from './backends/backend.js';
import type { BackendSpec } from './backends/index.js';
import type { KeptCell } from './backends/kept-checkpoints.js';
import type { LoadedPlugin } from './cell/plugins/load-plugins.js';
import {
  type CellPlace,
  givenPlace,
  type Keeper,
  keeper,
  keepers,
  listCells,
  placeNames,
  placeOf,
} from './cells.js';
import { checkCommon, checkNames } from './check-common.js';
import type { LoadedConfig } from './config/load-config.js';
import { resolveBackend } from './config/outside-backends.js';
import { logCell, logSettings, logTrusted } from './log-start.js';
import { type Cell, isEnforced, type StatusUpdate, WorkcellError } from './protocol/index.js';
import { EventStream } from './runtime/events/stream.js';
import { checkWithin } from './runtime/network/within.js';
import { Runtime } from './runtime/runtime.js';
import { safeLogger } from './runtime/runtime-log.js';
import { createTrusted } from './runtime/security/trusted.js';

/** What `attachRuntime` takes: the options of the trusted side, and where to look for the cell. */
export interface AttachRuntimeOptions extends CommonOptions, CellPlace {}

/**
 * Attaches to a cell that you started with `keepAlive`. Takes an entry of `listCells`, or the id of its runtime,
 * which it looks for. Shells, processes and files continue as they were, and events follow the earlier ones in the
 * store. One process at a time can attach. You pass policy, secrets and plugins here. Closing the runtime ends the
 * cell; `detach` leaves it running.
 */
export async function attachRuntime(
  cell: string | CellRef,
  options: AttachRuntimeOptions = {},
): Promise<Runtime> {
  const { signal } = options;
  checkCommon(options);
  const { id, place, ...found } = await refTo(cell, options);
  const { backend } = found.keeper;
  const { type } = backend;
  const config = await readSettings(options, { backend });
  const early = safeLogger(options.logger, undefined);
  const onStatus = statusListener(options, early);
  logSettings(early, config);
  // Who names no backend has the cell looked for in several places, and says where for each.
  const others = options.backend === undefined ? [] : await keepers();
  checkNames(options, ['backend', ...Object.keys(backend.options.shape), ...placeNames(others)], undefined);
  const given = { ...givenPlace([found.keeper], options, others), ...place };
  const plugins = await readPlugins(options, config);
  onStatus({ status: 'STARTING_RUNTIME', level: 'info', message: `Attaching to ${type} cell ${id}.` });
  const context = { id, onStatus, signal, plugins };
  const attached = await backend.attach(id, placeOf(backend, config, given), context);
  try {
    checkIsolation(attached, demandOf(config));
    return await open(await withHistory(attached), { config, plugins, options });
  } catch (error) {
    await attached.detach?.();
    throw error;
  }
}

/** Do not append events until we own the cell: another process may still be writing its record. */
async function open(
  { cell, history }: KeptCell,
  {
    config,
    plugins,
    options,
  }: { config: LoadedConfig; plugins: readonly LoadedPlugin[]; options: AttachRuntimeOptions },
): Promise<Runtime> {
  const { id, backend } = cell;
  const store = storeOf(config);
  const tools = await readTools(options, config);
  const said = await readSecurity(options, config);
  const { boundSecrets = [], ...trusted } = await createTrusted({ who: id, ...said, store });
  const logger = safeLogger(options.logger, trusted.mask);
  const onStatus = statusListener(options, logger);
  logTrusted(logger, id, said, { plugins, tools });
  logCell(logger, cell);
  const report = (update: StatusUpdate) => {
    events.append({ kind: 'status', status: update }, 'environment');
    onStatus(update);
  };
  const events = new EventStream(id, { store, onLost: onLostOf(config, report), continues: true });
  try {
    await events.open();
    cell.network?.provide?.(boundSecrets);
    report({ status: 'RUNTIME_STARTED', level: 'info', message: `Attached to ${backend} cell ${id}.` });
    const runtime = new Runtime({
      cell,
      events,
      plugins,
      onStatus,
      logger,
      defaults: runDefaults(config),
      askNetwork: networkAsker(options, id, { store, mask: trusted.mask }),
      deniedNetwork: config.values.network.deny,
      checkpoints: history?.(events),
      ...trusted,
      ...readServers(options, config),
    });
    const { deny = [], within } = config.values.network;
    checkFloor(cell, config.values.network);
    const rules = cell.network?.rules();
    // Before anything changes.
    if (rules !== undefined && within !== undefined) checkWithin(id, rules, within);
    const denied = rules?.deny;
    if (denied !== undefined && deny.some((rule) => !denied.includes(rule)))
      await runtime.network.deny(...deny);
    if (within !== undefined && rules?.within === undefined)
      await cell.network?.change((before) => ({ ...before, within }));
    if (tools.length > 0) await addTools(runtime, tools);
    if (options.events?.drivable) takeActions(runtime, events, report);
    return runtime;
  } catch (error) {
    trusted.release?.();
    await events.close();
    throw error;
  }
}

/** What no cell may reach holds for cells that others started, too. */
function checkFloor(
  { id, backend, network, isolation }: Cell,
  { deny = [], within }: { deny?: readonly string[] | undefined; within?: readonly string[] | undefined },
): void {
  const floor = within !== undefined ? 'within' : deny.length > 0 ? 'deny' : undefined;
  if (floor === undefined || network !== undefined || isEnforced(isolation, 'network')) return;
  throw new WorkcellError(
    'capability-unsupported',
    `The ${backend} cell ${id} reaches the network without rules, so network.${floor} of your settings cannot hold there. Start a cell with rules.`,
    { details: { cell: id, capability: 'network' } },
  );
}

/** The cell with its backend. If you started it with a backend object, pass that object again. */
async function refTo(
  cell: string | CellRef,
  options: AttachRuntimeOptions,
): Promise<Omit<CellRef, 'backend'> & { keeper: Keeper }> {
  const { backend: named } = options;
  if (typeof cell === 'string' && named !== undefined)
    return { id: cell, place: {}, keeper: await keeper(named, doing) };
  const { id, place, backend } = typeof cell === 'string' ? await find(cell, options) : cell;
  if (named !== undefined && !isOf(named, backend)) throw otherBackend(id, named, backend);
  return { id, place, keeper: await keeper(typeof named === 'object' ? named : backend, doing) };
}

/** Whether a reference is to a cell of the backend that the caller names; loads nothing to tell. */
function isOf(named: BackendSpec, backend: string): boolean {
  // We do not know which module a backend object came from. Its own code looks for the cell, and no other.
  if (typeof named === 'object') return backend === named.type || backend.startsWith('file:');
  const source = { source: 'option', from: process.cwd() };
  return resolveBackend(named, source) === resolveBackend(backend, source);
}

function otherBackend(id: string, named: BackendSpec, backend: string): WorkcellError {
  const given = typeof named === 'object' ? named.type : named;
  return new WorkcellError(
    'invalid-config',
    `The reference to cell ${id} names the backend "${backend}", and the option backend is "${given}". Give the one that has the cell, or leave the option out.`,
    { details: { id, backend, option: given } },
  );
}

const doing = 'attach to cells';

async function find(id: string, options: AttachRuntimeOptions): Promise<CellRef> {
  const reasons: string[] = [];
  const onUnavailable = (name: string, reason: string) => reasons.push(` Not asked: ${name}. ${reason}`);
  const found = (await listCells({ ...options, onUnavailable })).find((cell) => cell.id === id);
  if (found !== undefined) return found;
  throw new WorkcellError(
    'cell-not-found',
    `There is no cell "${id}". You can attach to cells that you start with keepAlive; listCells() and "workcell cells" show them.${reasons.join('')}`,
    { details: { id } },
  );
}
