/** What starting a cell and attaching to one have in common: settings, plugins, events, and the demands on isolation. */
import { builtinPlugins } from './cell/plugins/builtin.js';
import { type LoadedPlugin, loadPlugins } from './cell/plugins/load-plugins.js';
import type { Plugin } from './cell/plugins/plugin.js';
import { pluginsOf } from './config/config-plugins.js';
import { type LoadedConfig, loadConfig } from './config/load-config.js';
import type { PluginSpec } from './protocol/config.js';
import {
  type Cell,
  type Demand,
  type MinIsolation,
  type StatusUpdate,
  shortfall,
  WorkcellError,
} from './protocol/index.js';
import { type StoreAccess, type StoreOptions, storeAccess } from './runtime/events/open.js';
import type { EventStream } from './runtime/events/stream.js';
import type { RunDefaults, Runtime } from './runtime/runtime.js';
import type {
  Analyzer,
  AuditLogOptions,
  AuditStoreOptions,
  Policy,
  SecretOptions,
  Secrets,
} from './runtime/security/index.js';
import type { RuntimePolicy } from './runtime/security/trusted.js';

export interface CommonOptions {
  /** The configuration file; `false` ignores all files and `WORKCELL_*`. Default: the user's own file and that of the project. */
  config?: string | false | undefined;
  /** Told of each change in the life of the runtime. */
  onStatus?: ((update: StatusUpdate) => void) | undefined;
  /** Gives up starting. */
  signal?: AbortSignal | undefined;
  /** The start fails when less than this is enforced: a tier, or a tier with facts that must be enforced too. */
  minIsolation?: MinIsolation | undefined;
  /** Decides which actions run. With `guards` and without a policy: the policy with its defaults. */
  policy?: RuntimePolicy | Policy | undefined;
  /** Who judges the risk of actions. With a policy and without guards: `rules()`. */
  guards?: readonly Analyzer[] | undefined;
  /** Values that nothing which leaves the cell shows, and that chosen commands get as variables. */
  secrets?: Readonly<Record<string, SecretOptions>> | Secrets | undefined;
  /** Which plugins the executor has: those of this package by name, packages, files, or plugins themselves. Default: all of this package but `agent-skills`. */
  plugins?: readonly (PluginSpec | Plugin)[] | undefined;
  /** Keeps a hash-chained record of each decision and its effect in this file, or in a store. */
  audit?: AuditLogOptions | AuditStoreOptions | undefined;
  /** Where events are kept and for how long. */
  events?: StoreOptions | undefined;
}

export type Report = (update: StatusUpdate) => void;

/** The configuration, below the options that have a place in it. */
export function readSettings(
  { config: file, minIsolation, events }: CommonOptions,
  own: { backend?: string | undefined; workspace?: string | undefined } = {},
): Promise<LoadedConfig> {
  return loadConfig({
    cwd: process.cwd(),
    env: process.env,
    file,
    overrides: {
      ...own,
      min_isolation: typeof minIsolation === 'object' ? minIsolation.tier : minIsolation,
      min_facts: typeof minIsolation === 'object' ? minIsolation.facts : undefined,
      'events.store': events?.store,
      'events.durability': events?.durability,
      'events.retention_days': events?.retentionDays,
      'events.max_bytes': events?.maxBytes,
    },
  });
}

export async function readPlugins({ plugins }: CommonOptions, config: LoadedConfig): Promise<LoadedPlugin[]> {
  if (plugins !== undefined) return loadPlugins(plugins);
  const { specs, from } = pluginsOf(config, builtinPlugins);
  return loadPlugins(specs, from);
}

export function storeOf(config: LoadedConfig): StoreAccess | undefined {
  const { store, durability, retention_days: retentionDays, max_bytes: maxBytes } = config.values.events;
  return storeAccess({ store, durability, retentionDays, maxBytes });
}

/** A store that was asked for must be there. Without it a runtime goes on in memory, and says so. */
export function onLostOf(config: LoadedConfig, report: Report): ((error: unknown) => void) | undefined {
  if (config.values.events.store !== undefined) return undefined;
  return (error) => report({ status: 'EVENTS_NOT_STORED', level: 'error', message: reasonOf(error) });
}

/** What the settings demand of a cell. */
export function demandOf({ values }: LoadedConfig): Demand {
  return { tier: values.min_isolation, facts: values.min_facts };
}

export function checkIsolation({ backend, isolation }: Cell, demand: Demand): void {
  const lack = shortfall(isolation, demand);
  if (lack === undefined) return;
  throw new WorkcellError(
    'isolation-too-weak',
    `Backend "${backend}" ${lack}. Choose another backend, or run workcell doctor.`,
    {
      details: {
        tier: isolation.tier,
        minIsolation: demand.tier ?? 'none',
        facts: [...(demand.facts ?? [])],
      },
    },
  );
}

export function takeActions(runtime: Runtime, events: EventStream, report: Report): void {
  events.takeActions(
    (action, source) => runtime.events.add(action, source),
    (error) => {
      const message = `Actions of other processes are no longer taken: ${reasonOf(error)}`;
      report({ status: 'EVENTS_NOT_STORED', level: 'error', message });
    },
  );
}

export function runDefaults(config: LoadedConfig): RunDefaults {
  const { timeout, no_change_timeout: noChangeTimeout } = config.values.sandbox;
  return { timeoutMs: toMs(timeout), noChangeTimeoutMs: toMs(noChangeTimeout) };
}

export function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function toMs(seconds: number | undefined): number | undefined {
  return seconds === undefined ? undefined : Math.ceil(seconds * 1000);
}
