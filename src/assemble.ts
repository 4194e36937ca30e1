/** What starting a cell and attaching to one have in common: settings, plugins, events, and the demands on isolation. */
import type { Backend } from './backends/backend.js';
import type { KeptCell } from './backends/kept-checkpoints.js';
import { builtinPlugins } from './cell/plugins/builtin.js';
import { type LoadedPlugin, loadPlugins } from './cell/plugins/load-plugins.js';
import type { Plugin } from './cell/plugins/plugin.js';
import { type LoadedConfig, loadConfig } from './config/load-config.js';
import { checkCommand, checkTrustedModule, codeDirectory } from './config/named-code.js';
import type { ToolEntry } from './protocol/config.js';
import {
  type Cell,
  type Demand,
  type MinIsolation,
  type NetworkAsker,
  type StatusUpdate,
  shortfall,
  WorkcellError,
} from './protocol/index.js';
import type { McpServers } from './protocol/mcp-server-schema.js';
import type { PluginSpec } from './protocol/plugin-spec.js';
import { connectWhenUsed } from './runtime/connect-when-used.js';
import { type StoreAccess, type StoreOptions, storeAccess } from './runtime/events/open.js';
import type { EventStream } from './runtime/events/stream.js';
import type { RunDefaults, Runtime } from './runtime/runtime.js';
import { type Logger, logStatus } from './runtime/runtime-log.js';
import type {
  Analyzer,
  AuditLogOptions,
  AuditStoreOptions,
  Policy,
  SecretMask,
  SecretOptions,
  Secrets,
} from './runtime/security/index.js';
import type { RuntimePolicy } from './runtime/security/trusted.js';
import type { FunctionTool } from './runtime/tools/function-tool.js';
import type { ToldInside } from './runtime/tools/tools-from.js';

export interface CommonOptions {
  /**
   * The configuration file; `false` ignores all files and `WORKCELL_*`. Default: the user's own file and the
   * project's.
   */
  config?: string | false | undefined;
  /** Gets each change of the state of the runtime. */
  onStatus?: ((update: StatusUpdate) => void) | undefined;
  /** Gets one line for each action at `info`, and what led to it at `debug`; without contents and secrets. */
  logger?: Logger | undefined;
  /** Cancels the start. */
  signal?: AbortSignal | undefined;
  /** The least that a cell must enforce, else the start fails: a tier, or a tier with facts. */
  minIsolation?: MinIsolation | undefined;
  /** Decides which actions run. With `guards` and without a policy: the policy with its defaults. */
  policy?: RuntimePolicy | Policy | undefined;
  /** Who judges the risk of actions. With a policy and without guards: `rules()`. */
  guards?: readonly Analyzer[] | undefined;
  /** Values that nothing which leaves the cell shows, and that chosen commands get as variables. */
  secrets?: Readonly<Record<string, SecretOptions>> | Secrets | undefined;
  /**
   * Which plugins the executor has: those of this package by name, packages, files, or plugins themselves. Default:
   * all of this package but `agent-skills`.
   */
  plugins?: readonly (PluginSpec | Plugin)[] | undefined;
  /** MCP servers by name, in the form that `runtime.mcp.connect` takes. They connect on the first use of MCP. */
  mcp?: McpServers | undefined;
  /** Tools to register, or where they come from; see `runtime.add`. */
  tools?: readonly (FunctionTool | ToolEntry)[] | undefined;
  /** Keeps a hash-chained record of each decision and its effect in this file, or in a store. */
  audit?: AuditLogOptions | AuditStoreOptions | undefined;
  /** Answers questions about hosts that no network rule is on, for a cell whose rules have `ask`. */
  askNetwork?: NetworkAsker | undefined;
  /**
   * Whether hosts that this user allowed for always need no question here, and an answer `always` holds for other cells.
   * Say false when your program runs cells for other people. Default: true, unless `config` is false.
   */
  rememberHosts?: boolean | undefined;
  /** Where to keep events, and for how long. */
  events?: StoreOptions | undefined;
}

export type Report = (update: StatusUpdate) => void;

/** The configuration, below the options that have a place in it. */
export function readSettings(
  { config: file, minIsolation, events }: CommonOptions,
  own: { backend?: string | Backend | undefined; workspace?: string | undefined } = {},
): Promise<LoadedConfig> {
  const { backend, workspace } = own;
  return loadConfig({
    cwd: process.cwd(),
    env: process.env,
    file,
    backend: typeof backend === 'object' ? backend : undefined,
    overrides: {
      backend: typeof backend === 'string' ? backend : undefined,
      workspace,
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
  if (plugins !== undefined) return loadPlugins(plugins, process.cwd(), checkTrustedModule);
  const { plugins: specs } = config.values;
  const names = (specs ?? []).map((spec) => (typeof spec === 'string' ? spec : spec.name));
  const isOwn = (name: string) => Object.hasOwn(builtinPlugins, name);
  const from = codeDirectory(config, { key: 'plugins', what: 'plugin', names, isOwn });
  return loadPlugins(specs, from, checkTrustedModule);
}

/** The trusted side, as code and settings describe it together. */
export async function readSecurity(
  { policy, guards, secrets, audit, signal }: CommonOptions,
  config: LoadedConfig,
): Promise<Pick<CommonOptions, 'policy' | 'guards' | 'secrets' | 'audit'>> {
  const given = { policy, guards, secrets, audit };
  const { security, secrets: named } = config.values;
  const names = Object.keys(named);
  if (names.length === 0 && Object.values(security).every((value) => value === undefined)) return given;
  const { withPolicyFile } = await import('./config/policy-file.js');
  const { readSecret } = await import('./config/secret-source.js');
  const { namedGuards, withSettings } = await import('./runtime/security/settings.js');
  const isOwn = (name: string) => namedGuards.includes(name);
  const from = codeDirectory(config, {
    key: 'security.guards',
    what: 'guard',
    names: security.guards ?? [],
    isOwn,
  });
  const files = { key: 'security.rule_files', what: 'rule file', names: security.rule_files ?? [] };
  codeDirectory(config, { ...files, isOwn: () => false });
  const key = security.llm?.api_key;
  checkCommand(config, { key: 'security.llm', place: 'security.llm.api_key', command: key?.command });
  for (const name of names)
    checkCommand(config, { key: 'secrets', place: `secrets.${name}`, command: named[name]?.command });
  const entries = names.map(async (name) => {
    const { reach, commands, hosts, body, ...reference } = named[name] ?? {};
    const value = await readSecret(`secrets.${name}`, reference, { signal });
    return [name, { value, reach, commands, hosts, body }] as const;
  });
  return withSettings(given, {
    security: withPolicyFile(config),
    secrets: Object.fromEntries(await Promise.all(entries)),
    llmKey: key === undefined ? undefined : await readSecret('security.llm.api_key', key, { signal }),
    loadGuard: async (name) => (await import('./runtime/security/load-guard.js')).loadGuard(name, from),
  });
}

/** The tools to register at the start. Reads their names before anything starts. */
export async function readTools(
  { tools }: CommonOptions,
  config: LoadedConfig,
): Promise<(FunctionTool | ToldInside)[]> {
  const { entries } = config.values.tools;
  const given: readonly (FunctionTool | ToolEntry)[] = tools ?? entries;
  if (given.length === 0) return [];
  const { toolsFrom } = await import('./runtime/tools/tools-from.js');
  const names = entries.map((entry) => (typeof entry === 'string' ? entry : entry.entry));
  const isOwn = (name: string) => /^workcell\/toolkits\/[\w-]+(?:#[\w$]+)?$/.test(name);
  const from =
    tools === undefined
      ? codeDirectory(config, { key: 'tools.entries', what: 'tool', names, isOwn })
      : process.cwd();
  const lists = given.map(async (entry) => {
    if (typeof entry === 'string') return toolsFrom(entry, undefined, from);
    return 'entry' in entry ? toolsFrom(entry.entry, entry.arguments, from) : [entry];
  });
  return (await Promise.all(lists)).flat();
}

/** Registers them; the cell tells of those that only it knows. */
export async function addTools(
  runtime: Runtime,
  tools: readonly (FunctionTool | ToldInside)[],
): Promise<void> {
  const found = tools.map((entry) => ('module' in entry ? runtime.findTools(entry) : [entry]));
  runtime.add((await Promise.all(found)).flat());
}

/** The MCP servers that the owner names for every user of the runtime. */
export function readServers({ mcp }: CommonOptions, config: LoadedConfig) {
  return connectWhenUsed(mcp ?? config.values.mcp.servers);
}

export function storeOf(config: LoadedConfig): StoreAccess | undefined {
  const { store, durability, retention_days: retentionDays, max_bytes: maxBytes } = config.values.events;
  return storeAccess({ store, durability, retentionDays, maxBytes });
}

/** A store that you name must work. Without a named one, the runtime keeps events in memory and says so. */
export function onLostOf(config: LoadedConfig, report: Report): ((error: unknown) => void) | undefined {
  if (config.values.events.store !== undefined) return undefined;
  return (error) => report({ status: 'EVENTS_NOT_STORED', level: 'error', message: reasonOf(error) });
}

/** What the settings demand of a cell. `network`: what code says of it, which wins over them. */
export function demandOf({ values }: LoadedConfig, network?: unknown): Demand {
  const { min_isolation: tier, min_facts: facts } = values;
  if (values.network.mode !== 'none' || network !== undefined) return { tier, facts };
  return { tier, facts: [...new Set([...(facts ?? []), 'network' as const])] };
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

/** Asks about hosts: the caller's own function, and whoever looks into the store. Loaded with the first question. */
export function networkAsker(
  { askNetwork: asker, config, rememberHosts }: CommonOptions,
  runtimeId: string,
  { store, mask }: { store: StoreAccess | undefined; mask: SecretMask | undefined },
): NetworkAsker {
  const questions = { asker, store, runtimeId, mask, remembers: rememberHosts ?? config !== false };
  return async (question, signal) => {
    const { askAboutHost } = await import('./runtime/security/policy/ask-host.js');
    return askAboutHost(question, signal, questions);
  };
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

/** Tells the caller of each change, and the log. */
export function statusListener({ onStatus }: CommonOptions, logger: Logger | undefined): Report {
  return (update) => {
    if (logger !== undefined) logStatus(logger, update);
    onStatus?.(update);
  };
}

export function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function toMs(seconds: number | undefined): number | undefined {
  return seconds === undefined ? undefined : Math.ceil(seconds * 1000);
}

/** A kept cell with a workspace of its own has checkpoints, for which the others load nothing. */
export async function withHistory(cell: Cell): Promise<KeptCell> {
  if (cell.detach === undefined || !cell.ownsWorkspace) return { cell };
  const { withCheckpoints } = await import('./backends/kept-checkpoints.js');
  return withCheckpoints(cell);
}
