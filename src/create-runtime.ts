import { randomBytes } from 'node:crypto';
import type { z } from 'zod';
import {
  addTools,
  type CommonOptions,
  checkIsolation,
  demandOf,
  networkAsker,
  onLostOf,
  type Report,
  readPlugins,
  readSecurity,
  readServers,
  readSettings,
  readTools,
  reasonOf,
  runDefaults,
  statusListener,
  storeOf,
  takeActions,
  withHistory,
} from './assemble.js';
import type { Backend } from './backends/backend.js';
import type { Origin, StartedCell } from './backends/checkpointed-cell.js';
import type { GpuRequest } from './backends/gpu-option.js';
import { type BackendConfig, backendNames, checkBackend, loadBackend } from './backends/index.js';
import type { WorkspaceOption } from './backends/workspace-modes.js';
import { checkKeeps } from './cells.js';
import { checkCommon, checkNames } from './check-common.js';
import { chooseBackend, likelyBackend } from './config/choose-backend.js';
import type { LoadedConfig } from './config/load-config.js';
import { besideRules, rulesIn } from './config/network-settings.js';
import { checkRecordPlaces, fileOfStore } from './config/record-places.js';
import { logCell, logSettings, logTrusted } from './log-start.js';
import {
  type Demand,
  type NetworkOption,
  type NetworkSecret,
  type StatusUpdate,
  WorkcellError,
} from './protocol/index.js';
import { ruleListSchema } from './protocol/network/network-schema.js';
import type { StoreAccess } from './runtime/events/open.js';
import { EventStream } from './runtime/events/stream.js';
import { Runtime } from './runtime/runtime.js';
import { type Logger, safeLogger } from './runtime/runtime-log.js';
import { createTrusted } from './runtime/security/trusted.js';

/**
 * A backend with its options. Without a name, the configuration names it, or Workcell chooses the safest one here.
 */
export type CreateRuntimeOptions = (Placed<BackendConfig> | Unplaced) & CommonOptions & Named;

/** Every backend takes a workspace by its mode; those that work in a directory of this machine also take its path. */
type Placed<Config> = Config extends { workspace?: infer Path }
  ? Omit<Config, 'workspace'> & { workspace?: Path | WorkspaceOption | undefined }
  : string extends keyof Config
    ? Config
    : Config & { workspace?: WorkspaceOption | undefined };

interface Named {
  /** Of the runtime and its cell: letters and digits, used once. Default: random. */
  id?: string | undefined;
}

interface Unplaced {
  backend?: undefined;
  workspace?: string | WorkspaceOption | undefined;
  /** What the cell reaches. `none` is the default of every backend that isolates. */
  network?: NetworkOption | undefined;
  /** GPUs of this machine: `true` for all, how many, or the ids of some. */
  gpu?: GpuRequest | undefined;
}

/** The same, for reading: every backend's options at once, which its own schema checks. */
type GivenOptions = CommonOptions &
  Named & { backend?: string | object; workspace?: string | WorkspaceOption | undefined } & Record<
    string,
    unknown
  >;

/** Starts a cell and returns the runtime that works in it. Options win over the configuration. */
export function createRuntime<Shape extends z.ZodRawShape, Place extends z.ZodRawShape>(
  options: { backend: Backend<Shape, Place> } & z.input<z.ZodObject<Shape>> & CommonOptions & Named,
): Promise<Runtime>;
export function createRuntime(options?: CreateRuntimeOptions): Promise<Runtime>;
export async function createRuntime(
  options: CreateRuntimeOptions | (CommonOptions & { backend: object }) = {},
): Promise<Runtime> {
  return start(options as GivenOptions);
}

/** `origin`: the runtime that this one is a fork of, and the checkpoint that it begins with. */
async function start(options: GivenOptions, origin?: Origin): Promise<Runtime> {
  const {
    backend: named,
    id = randomBytes(8).toString('hex'),
    workspace: place,
    minIsolation,
    config: file,
    onStatus: _onStatus,
    logger: given,
    signal,
    policy,
    guards,
    secrets,
    audit,
    plugins: pluginSpecs,
    mcp,
    tools: toolEntries,
    events: eventOptions,
    askNetwork: _askNetwork,
    rememberHosts: _rememberHosts,
    ...own
  } = options;
  checkId(id);
  checkCommon(options);
  // Most cells work in a directory itself.
  const modes = typeof place === 'object' ? await import('./backends/checkpointed-cell.js') : undefined;
  const spec = modes?.checkWorkspace(place);
  const workspace = typeof place === 'object' ? spec?.from : place;
  const brought = typeof named === 'object' ? checkBackend(named, 'The option backend') : named;
  const config = await readSettings(options, { backend: brought, workspace });
  const demand = demandOf(config, own.network);
  const early = safeLogger(given, undefined);
  logSettings(early, config);
  const isChosen = typeof brought === 'object' || config.values.backend !== undefined;
  const likely = isChosen ? undefined : await likelyBackend(backendNames, loadBackend);
  const backend =
    typeof brought === 'object'
      ? brought
      : await loadBackend(config.values.backend ?? likely ?? (await choose(demand, early)));
  const { type } = backend;
  if (own.keepAlive === true) await checkKeeps(backend, 'keep cells alive');
  const report = (update: StatusUpdate) => {
    events.append({ kind: 'status', status: update }, 'environment');
    onStatus(update);
  };
  const plugins = await readPlugins(options, config);
  const tools = await readTools(options, config);
  const said = await readSecurity(options, config);
  if (spec === undefined || spec.mode === 'direct') checkRecords(config, said.audit);
  if (signal?.aborted) throw new WorkcellError('cancelled', 'The start was cancelled before it began.');
  const store = storeOf(config);
  const { boundSecrets = [], ...trusted } = await createTrusted({ who: id, ...said, store });
  const logger = safeLogger(given, trusted.mask);
  const onStatus = statusListener(options, logger);
  logTrusted(logger, id, said, { plugins, tools });
  const begun = performance.now();
  const events = await openEvents(id, config, store, report).catch((error: unknown) => {
    trusted.release?.();
    throw error;
  });
  report({ status: 'STARTING_RUNTIME', level: 'info', message: `Starting a ${type} cell.` });
  try {
    const chosen = backendOptions(config, backend, own, (message) => {
      logger?.warn({ backend: type }, message);
      report({ status: 'STARTING_RUNTIME', level: 'info', message });
    });
    // Rules that nothing holds are gone from what is chosen.
    const asked = Object.entries(own).filter(([name]) => Object.hasOwn(chosen, name));
    checkNames(Object.fromEntries(asked), Object.keys(backend.options.shape), type);
    checkBound(boundSecrets, chosen.network);
    const context = {
      id,
      onStatus: report,
      recording: async () => {
        await events.open();
        await events.kept();
      },
      signal,
      plugins,
      networkSecrets: boundSecrets,
    };
    const started: StartedCell =
      modes === undefined || spec === undefined || spec.mode === 'direct'
        ? await withHistory(await backend.start(chosen, context))
        : await modes.startCheckpointed(backend, spec, chosen, context, origin);
    const { cell } = started;
    try {
      logCell(logger, cell, begun);
      checkIsolation(cell, demand);
      if (likely !== undefined) logChoice(logger, likely, demand);
      report({ status: 'RUNTIME_STARTED', level: 'info', message: `Cell ${id} runs in backend ${type}.` });
      const defaults = runDefaults(config);
      const servers = readServers(options, config);
      const runtime = new Runtime({
        cell,
        events,
        plugins,
        onStatus,
        logger,
        defaults,
        askNetwork: networkAsker(options, id, { store, mask: trusted.mask }),
        deniedNetwork: config.values.network.deny,
        checkpoints: started.history?.(
          events,
          (kept, files, signal = options.signal) =>
            start({ ...options, id: undefined, signal }, { files, kept }),
          origin?.kept,
        ),
        ...trusted,
        ...servers,
      });
      if (tools.length > 0) await addTools(runtime, tools);
      if (eventOptions?.drivable) takeActions(runtime, events, report);
      return runtime;
    } catch (error) {
      await cell.stop();
      throw error;
    }
  } catch (error) {
    const { failure, next } = await elsewhere(error, likely, signal, () => choose(demand, early));
    if (next === undefined) report({ status: 'ERROR', level: 'error', message: reasonOf(failure) });
    trusted.release?.();
    await events.close();
    if (next !== undefined) return start({ ...options, id, backend: next }, origin);
    throw failure;
  }
}

/** Where to start when the likely backend did not, whatever the reason, or what to tell. */
async function elsewhere(
  error: unknown,
  likely: string | undefined,
  signal: AbortSignal | undefined,
  choose: () => Promise<string>,
): Promise<{ failure?: unknown; next?: string }> {
  const isCancelled = signal?.aborted || (WorkcellError.isInstance(error) && error.code === 'cancelled');
  if (likely === undefined || isCancelled) return { failure: error };
  try {
    const next = await choose();
    return next === likely ? { failure: error } : { next };
  } catch (failure) {
    return { failure };
  }
}

/** It stands in names of files, containers and processes. */
function checkId(id: string): void {
  if (/^[a-z0-9]{8,40}$/.test(id)) return;
  throw new WorkcellError(
    'invalid-config',
    `The id ${JSON.stringify(id)} is not accepted. Give 8 to 40 letters in lower case or digits.`,
    { details: { id } },
  );
}

/**
 * What the cell reaches: by the code, else by the settings, else by the section of the backend. What settings deny stays
 * denied, and what is not within theirs stays beyond reach, so with either nothing starts that could not enforce it.
 */
function networkOf({ values }: LoadedConfig, backend: Backend, own: unknown, ofSection: unknown): unknown {
  const { mode, deny = [], within } = values.network;
  const ruled = rulesIn(values.network);
  if (ruled !== undefined && mode === 'open')
    throw new WorkcellError(
      'invalid-config',
      `network.mode is "open", and network.allow, preset, ask or requests say otherwise. Leave out either.`,
      { details: { key: 'network.mode' } },
    );
  const has = Object.hasOwn(backend.options.shape, 'network');
  // `none` wins over every other setting; `open` leaves the choice of a network to the section.
  const set = mode === 'none' ? mode : (ruled ?? ofSection ?? mode);
  const said = own ?? (has || isRules(set) ? set : undefined);
  if (isRules(said)) {
    const rules = { ...besideRules(values.network), ...said, deny: [...deny, ...(said.deny ?? [])] };
    if (within === undefined) return rules;
    if (said.within === undefined) return { ...rules, within };
    throw new WorkcellError(
      'invalid-config',
      'The settings have network.within, so leave out network.within in code, and narrow what the cell reaches with network.allow.',
      { details: { key: 'network.within' } },
    );
  }
  const floor = within !== undefined ? 'within' : deny.length > 0 ? 'deny' : undefined;
  if (floor !== undefined && said === undefined && !has && values.network.unenforced)
    return { deny, ...(within !== undefined && { within }) };
  if (floor !== undefined && said !== 'none' && !(said === undefined && has)) {
    const reach =
      floor === 'within' ? 'more than network.within names' : `${deny[0]}, which network.deny names`;
    throw new WorkcellError(
      'invalid-config',
      `A ${backend.type} cell${said === undefined ? '' : ` with network ${JSON.stringify(said)}`} could reach ${reach}. Use rules or "none" as network, or leave out network.${floor}.`,
      { details: { key: `network.${floor}` } },
    );
  }
  return said;
}

function isRules(network: unknown): network is { deny?: string[]; within?: string[]; unenforced?: boolean } {
  return typeof network === 'object' && network !== null;
}

/** A backend that enforces rules has them among its options. */
function takesRules({ options }: Backend): boolean {
  const { network } = options.shape as Record<string, z.ZodType | undefined>;
  return network?.safeParse({ allow: [] }).success === true;
}

/**
 * Only where a backend has no network of its own to choose, so that nothing opens what it would close. What the settings
 * hold for every cell, only the settings give up.
 */
function checkGoesOn(
  { values }: LoadedConfig,
  { type, options }: Backend,
  { unenforced }: { unenforced?: boolean },
): void {
  const { deny = [], within, limits, unenforced: isSet = false } = values.network;
  const isOpenAnyway = !Object.hasOwn(options.shape, 'network');
  const hasFloor = deny.length > 0 || within !== undefined || limits !== undefined;
  if (isOpenAnyway && (hasFloor ? isSet : (unenforced ?? isSet))) return;
  throw new WorkcellError(
    'capability-unsupported',
    `Backend "${type}" cannot enforce network rules. Use backend "sandbox"${isOpenAnyway ? ', or say network.unenforced to start without what they promise' : ', or network: "none"'}.`,
    { details: { backend: type, capability: 'network' } },
  );
}

/** Where the cell could not only read but write. */
function checkRecords({ values }: LoadedConfig, audit: CommonOptions['audit']): void {
  const file = audit !== undefined && 'file' in audit ? audit.file : undefined;
  const store = audit !== undefined && 'store' in audit ? audit.store : undefined;
  checkRecordPlaces(values.workspace, {
    'events.store': fileOfStore(values.events.store),
    'audit.file': file,
    'audit.store': typeof store === 'string' ? fileOfStore(store) : undefined,
  });
}

/** Nothing else keeps a secret out of a cell and gets it to a server. */
function checkBound(secrets: readonly NetworkSecret[], network: unknown): void {
  const [first] = secrets;
  if (first === undefined) return;
  const details = { secret: first.name };
  if (!isRules(network))
    throw new WorkcellError(
      'invalid-config',
      `Secret ${first.name} has reach "network", which needs a cell with network rules. Give network: { allow: [...] }, or another reach.`,
      { details },
    );
  for (const { name, hosts } of secrets)
    for (const host of hosts) {
      const rule = ruleListSchema.safeParse([host.replace(/^http:\/\//, '')]);
      if (rule.success) continue;
      throw new WorkcellError(
        'invalid-config',
        `Secret ${name} names ${JSON.stringify(host)}, which is no host.`,
        {
          details: { secret: name },
        },
      );
    }
}

async function choose(demand: Demand, logger: Logger | undefined): Promise<string> {
  const onPassed = (backend: string, reason: string) =>
    logger?.debug({ backend, reason }, `Backend ${backend} is passed by`);
  const name = await chooseBackend({ known: backendNames, load: loadBackend, demand, onPassed });
  logChoice(logger, name, demand);
  return name;
}

function logChoice(logger: Logger | undefined, backend: string, demand: Demand): void {
  logger?.debug({ backend, demand }, `Backend ${backend} is the safest that can start here`);
}

/** Unless the caller asks for a store, opens this user's store while the cell starts. */
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
  backend: Backend,
  own: Record<string, unknown>,
  onUnenforced: (message: string) => void,
): Record<string, unknown> {
  const { workspace, sandbox } = config.values;
  const section = config.backendOptions[backend.type] ?? {};
  const given = Object.fromEntries(Object.entries(own).filter(([, value]) => value !== undefined));
  const merged: Record<string, unknown> = { ...section, ...given };
  if (workspace !== undefined) merged.workspace = workspace;
  const network = networkOf(config, backend, own.network, section.network);
  if (isRules(network) && !takesRules(backend)) {
    checkGoesOn(config, backend, network);
    delete merged.network;
    onUnenforced(`Nothing holds the network rules in a ${backend.type} cell: it reaches everything.`);
  } else if (network === undefined) delete merged.network;
  else merged.network = network;
  const startup = sandbox.runtime_startup_env_vars;
  if (Object.keys(startup).length > 0) {
    merged.env = { ...startup, ...(merged.env as Record<string, string> | undefined) };
  }
  return merged;
}
