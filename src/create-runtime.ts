import { randomBytes } from 'node:crypto';
import {
  type CommonOptions,
  checkIsolation,
  demandOf,
  onLostOf,
  type Report,
  readPlugins,
  readSettings,
  reasonOf,
  runDefaults,
  storeOf,
  takeActions,
} from './assemble.js';
import { type BackendConfig, backendNames, loadBackend } from './backends/index.js';
import { keeper } from './cells.js';
import { chooseBackend } from './config/choose-backend.js';
import type { LoadedConfig } from './config/load-config.js';
import { type StatusUpdate, WorkcellError } from './protocol/index.js';
import type { StoreAccess } from './runtime/events/open.js';
import { EventStream } from './runtime/events/stream.js';
import { Runtime } from './runtime/runtime.js';
import { createTrusted } from './runtime/security/trusted.js';

/** A backend with its options; with none named, the configuration names it or the safest one here is chosen. */
export type CreateRuntimeOptions = (BackendConfig | { backend?: undefined; workspace?: string | undefined }) &
  CommonOptions;

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
  const config = await readSettings(options, { backend: named, workspace });
  const demand = demandOf(config);
  const name =
    config.values.backend ?? (await chooseBackend({ known: backendNames, load: loadBackend, demand }));
  const backend = await loadBackend(name);
  if (own.keepAlive === true) await keeper(name, 'keep cells alive');
  const id = randomBytes(8).toString('hex');
  const report = (update: StatusUpdate) => {
    events.append({ kind: 'status', status: update }, 'environment');
    onStatus?.(update);
  };
  const plugins = await readPlugins(options, config);
  if (signal?.aborted) throw new WorkcellError('cancelled', 'The start was cancelled before it began.');
  const store = storeOf(config);
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
      recording: async () => {
        await events.open();
        await events.kept();
      },
      signal,
      plugins,
    });
    try {
      checkIsolation(cell, demand);
      report({ status: 'RUNTIME_STARTED', level: 'info', message: `Cell ${id} runs in backend ${name}.` });
      const defaults = runDefaults(config);
      const runtime = new Runtime({ cell, events, plugins, onStatus, defaults, ...trusted });
      if (eventOptions?.drivable) takeActions(runtime, events, report);
      return runtime;
    } catch (error) {
      await cell.stop();
      throw error;
    }
  } catch (error) {
    report({ status: 'ERROR', level: 'error', message: reasonOf(error) });
    trusted.release?.();
    await events.close();
    throw error;
  }
}

/** Without a store that was asked for, the one of this user is opened while the cell starts. */
async function openEvents(
  id: string,
  config: LoadedConfig,
  store: StoreAccess | undefined,
  report: Report,
): Promise<EventStream> {
  const onLost = onLostOf(config, report);
  const events = new EventStream(id, { store, onLost });
  if (onLost === undefined) await events.open();
  else setImmediate(() => void events.open());
  return events;
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
