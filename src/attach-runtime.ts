import {
  type CommonOptions,
  checkIsolation,
  demandOf,
  onLostOf,
  readPlugins,
  readSettings,
  runDefaults,
  storeOf,
  takeActions,
} from './assemble.js';
import { type CellPlace, keeper, listCells, placeOf } from './cells.js';
import type { LoadedConfig } from './config/load.js';
import { type Cell, type StatusUpdate, WorkcellError } from './protocol/index.js';
import { EventStream } from './runtime/events/stream.js';
import { Runtime } from './runtime/runtime.js';
import { createTrusted } from './runtime/security/trusted.js';

export interface AttachRuntimeOptions extends CommonOptions, CellPlace {}

/**
 * Gives a runtime in a cell that was started with `keepAlive`, by the id that its runtime had: its shells, processes and
 * files are as they were, and its events follow those that are kept of it. One process at a time can have it. Policy,
 * secrets and plugins are those given here. Closing the runtime ends the cell; `detach` leaves it running.
 */
export async function attachRuntime(id: string, options: AttachRuntimeOptions = {}): Promise<Runtime> {
  const { onStatus, signal } = options;
  const config = await readSettings(options);
  const name = options.backend ?? (await backendOf(id, options));
  const backend = await keeper(name, 'attach to cells');
  const plugins = await readPlugins(options, config);
  onStatus?.({ status: 'STARTING_RUNTIME', level: 'info', message: `Attaching to ${name} cell ${id}.` });
  const context = { id, onStatus: onStatus ?? (() => {}), signal, plugins };
  const cell = await backend.attach(id, placeOf(backend, config, options), context);
  try {
    checkIsolation(cell, demandOf(config));
    return await open(cell, config, options);
  } catch (error) {
    await cell.detach?.();
    throw error;
  }
}

/** Nothing is recorded before the cell is had: until then its record is another's. */
async function open(cell: Cell, config: LoadedConfig, options: AttachRuntimeOptions): Promise<Runtime> {
  const { onStatus, policy, guards, secrets, audit } = options;
  const { id, backend } = cell;
  const store = storeOf(config);
  const trusted = await createTrusted({ who: id, policy, guards, secrets, audit, store });
  const report = (update: StatusUpdate) => {
    events.append({ kind: 'status', status: update }, 'environment');
    onStatus?.(update);
  };
  const events = new EventStream(id, { store, onLost: onLostOf(config, report), continues: true });
  try {
    await events.open();
    report({ status: 'RUNTIME_STARTED', level: 'info', message: `Attached to ${backend} cell ${id}.` });
    const runtime = new Runtime({ cell, events, onStatus, defaults: runDefaults(config), ...trusted });
    if (options.events?.drivable) takeActions(runtime, events, report);
    return runtime;
  } catch (error) {
    trusted.release?.();
    await events.close();
    throw error;
  }
}

async function backendOf(id: string, options: AttachRuntimeOptions): Promise<string> {
  const reasons: string[] = [];
  const onUnavailable = (name: string, reason: string) => reasons.push(` Not asked: ${name}. ${reason}`);
  const found = (await listCells({ ...options, onUnavailable })).find((cell) => cell.id === id);
  if (found !== undefined) return found.backend;
  throw new WorkcellError(
    'cell-not-found',
    `There is no cell "${id}". Cells can be attached to when they were started with keepAlive; listCells() and "workcell cells" show them.${reasons.join('')}`,
    { details: { id } },
  );
}
