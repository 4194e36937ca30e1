import { randomBytes } from 'node:crypto';
import { dirname } from 'node:path';
import { type BackendConfig, backendNames, loadBackend } from './backends/index.js';
import { chooseBackend } from './config/choose-backend.js';
import { type LoadedConfig, loadConfig } from './config/load.js';
import { type StoreAccess, type StoreOptions, storeAccess } from './events/open.js';
import { EventStream } from './events/stream.js';
import { loadPlugins } from './plugins/load.js';
import type { Plugin } from './plugins/plugin.js';
import type { PluginSpec } from './protocol/config.js';
import { type IsolationTier, isAtLeast, type StatusUpdate, WorkcellError } from './protocol/index.js';
import { type RunDefaults, Runtime } from './runtime/runtime.js';
import type {
  Analyzer,
  AuditLogOptions,
  AuditStoreOptions,
  Policy,
  SecretOptions,
  Secrets,
} from './security/index.js';
import { createTrusted, type RuntimePolicy } from './security/trusted.js';

/** A backend with its options; with none named, the configuration names it or the safest one here is chosen. */
export type CreateRuntimeOptions = (BackendConfig | { backend?: undefined; workspace?: string | undefined }) &
  CommonOptions;

interface CommonOptions {
  /** The configuration file; `false` ignores `workcell.toml` and `WORKCELL_*`. Default: the nearest file upwards. */
  config?: string | false | undefined;
  /** Told of each change in the life of the runtime. */
  onStatus?: ((update: StatusUpdate) => void) | undefined;
  /** Gives up starting. */
  signal?: AbortSignal | undefined;
  /** The start fails when less than this is enforced. */
  minIsolation?: IsolationTier | undefined;
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

/** The same, for reading: every backend's options at once, which its own schema checks. */
type GivenOptions = CommonOptions & { backend?: string; workspace?: string | undefined } & Record<
    string,
    unknown
  >;

/** Starts a cell and gives the runtime that works in it. Options win over the configuration. */
export async function createRuntime(options: CreateRuntimeOptions = {}): Promise<Runtime> {
  const {
    backend: named,
    workspace,
    minIsolation,
    config: file,
    onStatus,
    signal,
    policy,
    guards,
    secrets,
    audit,
    plugins: pluginSpecs,
    events: eventOptions,
    ...own
  } = options as GivenOptions;
  const config = await loadConfig({
    cwd: process.cwd(),
    env: process.env,
    file,
    overrides: {
      backend: named,
      workspace,
      min_isolation: minIsolation,
      'events.store': eventOptions?.store,
      'events.durability': eventOptions?.durability,
      'events.retention_days': eventOptions?.retentionDays,
      'events.max_bytes': eventOptions?.maxBytes,
    },
  });
  const minimum = config.values.min_isolation;
  const name =
    config.values.backend ??
    (await chooseBackend({ known: backendNames, load: loadBackend, minIsolation: minimum }));
  const backend = await loadBackend(name);
  const id = randomBytes(8).toString('hex');
  const report = (update: StatusUpdate) => {
    events.append({ kind: 'status', status: update }, 'environment');
    onStatus?.(update);
  };
  const plugins = await loadPlugins(pluginSpecs ?? config.values.plugins, baseOf('plugins', config));
  if (signal?.aborted) throw new WorkcellError('cancelled', 'The start was cancelled before it began.');
  const store = accessOf(config);
  const trusted = await createTrusted({ who: id, policy, guards, secrets, audit, store });
  const events = await openEvents(id, config, store, report).catch((error: unknown) => {
    trusted.release?.();
    throw error;
  });
  report({ status: 'STARTING_RUNTIME', level: 'info', message: `Starting a ${name} cell.` });
  try {
    const cell = await backend.start(backendOptions(config, name, own), {
      id,
      onStatus: report,
      signal,
      plugins,
    });
    if (minimum !== undefined && !isAtLeast(cell.isolation.tier, minimum)) {
      await cell.stop();
      throw new WorkcellError(
        'isolation-too-weak',
        `Backend "${name}" enforces "${cell.isolation.tier}" here and "${minimum}" is demanded. Choose another backend, or run workcell doctor.`,
        { details: { tier: cell.isolation.tier, minIsolation: minimum } },
      );
    }
    report({ status: 'RUNTIME_STARTED', level: 'info', message: `Cell ${id} runs in backend ${name}.` });
    const runtime = new Runtime({ cell, events, onStatus, defaults: runDefaults(config), ...trusted });
    if (eventOptions?.drivable) takeActions(runtime, events, report);
    return runtime;
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    report({ status: 'ERROR', level: 'error', message });
    trusted.release?.();
    await events.close();
    throw error;
  }
}

function takeActions(runtime: Runtime, events: EventStream, report: (update: StatusUpdate) => void): void {
  events.takeActions(
    (action, source) => runtime.events.add(action, source),
    (error) => {
      const reason = error instanceof Error ? error.message : String(error);
      const message = `Actions of other processes are no longer taken: ${reason}`;
      report({ status: 'EVENTS_NOT_STORED', level: 'error', message });
    },
  );
}

function accessOf(config: LoadedConfig): StoreAccess | undefined {
  const { store, durability, retention_days: retentionDays, max_bytes: maxBytes } = config.values.events;
  return storeAccess({ store, durability, retentionDays, maxBytes });
}

/**
 * A store that was asked for must be there. Without it the one of this user is opened while the cell starts, and where
 * that fails the runtime says so and goes on in memory.
 */
async function openEvents(
  id: string,
  config: LoadedConfig,
  access: StoreAccess | undefined,
  report: (update: StatusUpdate) => void,
): Promise<EventStream> {
  if (config.values.events.store !== undefined) {
    const events = new EventStream(id, { store: access });
    await events.open();
    return events;
  }
  const onLost = (error: unknown) => {
    const message = error instanceof Error ? error.message : String(error);
    report({ status: 'EVENTS_NOT_STORED', level: 'error', message });
  };
  const events = new EventStream(id, { store: access, onLost });
  setImmediate(() => void events.open());
  return events;
}

/** Where what a setting names is looked for: beside the file that it stands in. */
function baseOf(key: string, { sources, file }: LoadedConfig): string {
  return file !== undefined && sources[key] === file ? dirname(file) : process.cwd();
}

/** The backend's section, with the options in code above it. A variable set nearer to the code wins. */
function backendOptions(
  config: LoadedConfig,
  name: string,
  own: Record<string, unknown>,
): Record<string, unknown> {
  const { workspace, sandbox } = config.values;
  const section = config.backendOptions[name] ?? {};
  const given = Object.fromEntries(Object.entries(own).filter(([, value]) => value !== undefined));
  const merged: Record<string, unknown> = { ...section, ...given };
  if (workspace !== undefined) merged.workspace = workspace;
  const startup = sandbox.runtime_startup_env_vars;
  if (Object.keys(startup).length > 0) {
    merged.env = { ...startup, ...(merged.env as Record<string, string> | undefined) };
  }
  return merged;
}

function runDefaults(config: LoadedConfig): RunDefaults {
  const { timeout, no_change_timeout: noChangeTimeout } = config.values.sandbox;
  return { timeoutMs: toMs(timeout), noChangeTimeoutMs: toMs(noChangeTimeout) };
}

function toMs(seconds: number | undefined): number | undefined {
  return seconds === undefined ? undefined : Math.ceil(seconds * 1000);
}
