/** Plugins at work: an executor that knows their actions besides its own. */

import {
  type Action,
  type ActionName,
  type ActionTable,
  type Capability,
  actions as coreActions,
  type ExecuteContext,
  type Executor,
  type Observation,
  parseObservation,
  WorkcellError,
} from '../../protocol/index.js';
import type { Launcher } from '../launchers/launcher.js';
import type { LoadedPlugin } from './load-plugins.js';
import type { Plugin, PluginCell, PluginInstance } from './plugin.js';
import { type CellExecutor, createPluginCell } from './plugin-cell.js';
import { missingRequirement } from './requirements.js';

/** The actions of an executor with these plugins. */
export function actionsWith(plugins: readonly LoadedPlugin[]): ActionTable {
  const table: Record<string, ActionTable[string]> = { ...coreActions };
  for (const { plugin } of plugins) {
    for (const [name, definition] of Object.entries(plugin.actions)) {
      if (Object.hasOwn(table, name)) {
        throw new WorkcellError(
          'invalid-config',
          `Plugin "${plugin.name}" brings an action "${name}", which exists already. Leave one of the two out.`,
          { details: { plugin: plugin.name, action: name } },
        );
      }
      table[name] = definition;
    }
  }
  return table;
}

/** Adds the actions of plugins to an executor. A plugin starts at its first action, unless it asks to start early. */
export function withPlugins(
  executor: CellExecutor,
  launcher: Launcher,
  plugins: readonly LoadedPlugin[],
): Executor {
  if (plugins.length === 0) return executor;
  const cell = createPluginCell(executor, launcher);
  const slots = plugins.map((loaded) => new PluginSlot(loaded, cell));
  const owners = new Map(
    slots.flatMap((slot) => Object.keys(slot.plugin.actions).map((name) => [name, slot])),
  );
  const prepared = prepare(plugins, cell);
  // Swallow the error here; the first action rethrows it.
  prepared?.catch(() => {});
  const early = slots.filter((slot) => slot.early);
  const startEarly = () => early.map((slot) => slot.started().catch(() => {}));
  if (prepared === undefined) startEarly();
  else if (early.length > 0) void prepared.then(startEarly, () => {});

  let closing: Promise<void> | undefined;
  return {
    ...executor,
    actions: actionsWith(plugins),
    async execute<Name extends ActionName>(action: Action<Name>, context: ExecuteContext = {}) {
      if (prepared !== undefined) await prepared;
      const slot = owners.get(action.action);
      if (slot === undefined) return executor.execute(action, context);
      if (closing !== undefined)
        throw new WorkcellError('runtime-closed', 'The cell is closed; start a new one.');
      return slot.execute(action, context);
    },
    close() {
      closing ??= (async () => {
        await Promise.allSettled(slots.map((slot) => slot.dispose()));
        await executor.close();
      })();
      return closing;
    },
    async capabilities() {
      await prepared?.catch(() => {});
      return await Promise.all(slots.map((slot) => slot.capability()));
    },
  };
}

/** Sets the variables of the plugins; nothing to wait for when they have none. */
function prepare(plugins: readonly LoadedPlugin[], cell: PluginCell): Promise<unknown> | undefined {
  const given = plugins.filter(({ plugin }) => plugin.environment !== undefined);
  if (given.length === 0) return undefined;
  return (async () => {
    const variables: Record<string, string> = {};
    for (const { plugin, options } of given) {
      const { environment } = plugin;
      // A failing plugin harms nothing else; it then lacks what its readiness needs.
      const own =
        typeof environment === 'function'
          ? await environment(cell, options).catch(() => undefined)
          : environment;
      Object.assign(variables, own);
    }
    await cell.execute<'set_env'>({ action: 'set_env', variables });
  })();
}

/** One plugin's place in a cell. */
class PluginSlot {
  readonly plugin: Plugin;
  readonly #options: unknown;
  readonly #cell: PluginCell;
  #instance: Promise<PluginInstance> | undefined;

  constructor({ plugin, options }: LoadedPlugin, cell: PluginCell) {
    this.plugin = plugin;
    this.#options = options;
    this.#cell = cell;
  }

  get early(): boolean {
    const { early = false } = this.plugin;
    return typeof early === 'function' ? early(this.#options) : early;
  }

  async execute<Name extends ActionName>(
    action: Action<Name>,
    context: ExecuteContext,
  ): Promise<Observation<Name>> {
    const name = action.action as Name;
    const { handlers } = await this.started();
    if (context.signal?.aborted)
      throw new WorkcellError('cancelled', `The ${name} was cancelled before it began.`);
    const handler = handlers[name] as (action: unknown, context: ExecuteContext) => object | Promise<object>;
    const answer = { ...(await handler(action, context)), observation: name };
    return parseObservation<Name>(name, answer, this.plugin.actions);
  }

  /** The started plugin. After a failure the next use tries again, because what it needs may exist by then. */
  started(): Promise<PluginInstance> {
    this.#instance ??= this.#start().catch((error: unknown) => {
      this.#instance = undefined;
      throw error;
    });
    return this.#instance;
  }

  async #start(): Promise<PluginInstance> {
    const { plugin } = this;
    try {
      return await plugin.initialize(this.#cell, this.#options);
    } catch (cause) {
      const missing = await missingRequirement(this.#cell, plugin, this.#options);
      if (missing === undefined && WorkcellError.isInstance(cause)) throw cause;
      const reason = missing ?? (cause instanceof Error ? cause.message : String(cause));
      throw new WorkcellError('plugin-unavailable', `Plugin "${plugin.name}" cannot start. ${reason}`, {
        details: { plugin: plugin.name },
        cause,
      });
    }
  }

  async capability(): Promise<Capability> {
    const { name, version, summary, actions } = this.plugin;
    const plugin = { version, summary, actions: Object.keys(actions) };
    const missing =
      this.#instance === undefined
        ? await missingRequirement(this.#cell, this.plugin, this.#options)
        : undefined;
    return missing === undefined
      ? { name, state: 'ready', plugin }
      : { name, state: 'unavailable', reason: missing, plugin };
  }

  async dispose(): Promise<void> {
    const instance = await this.#instance?.catch(() => undefined);
    await instance?.dispose?.();
  }
}
