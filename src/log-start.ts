/** What the log says about the start of a runtime. */
import type { CommonOptions } from './assemble.js';
import type { LoadedPlugin } from './cell/plugins/load-plugins.js';
import type { LoadedConfig } from './config/load-config.js';
import type { Cell } from './protocol/index.js';
import type { Logger } from './runtime/runtime-log.js';
import type { FunctionTool } from './runtime/tools/function-tool.js';
import type { ToldInside } from './runtime/tools/tools-from.js';

/** Logs the files that settings come from, and the settings in them that have no effect. */
export function logSettings(logger: Logger | undefined, { files, notHonoured, sources }: LoadedConfig): void {
  if (logger === undefined) return;
  const set = Object.entries(sources).filter(([, source]) => source !== 'default');
  logger.debug({ files, settings: Object.fromEntries(set) }, 'Settings read');
  for (const { file, key, reason } of notHonoured)
    logger.debug({ file, key, reason }, 'A setting does not count');
}

/** Logs the names of guards, secrets, plugins and tools; never a value. */
export function logTrusted(
  logger: Logger | undefined,
  cell: string,
  { policy, guards, secrets, audit }: Pick<CommonOptions, 'policy' | 'guards' | 'secrets' | 'audit'>,
  { plugins, tools }: { plugins: readonly LoadedPlugin[]; tools: readonly (FunctionTool | ToldInside)[] },
): void {
  if (logger === undefined) return;
  const fields = {
    cell,
    policy: policy !== undefined || guards !== undefined,
    guards: guards?.map(({ name }) => name) ?? [],
    secrets: secrets === undefined || typeof secrets.prepare === 'function' ? [] : Object.keys(secrets),
    audit: audit !== undefined,
    plugins: plugins.map(({ plugin }) => plugin.name),
    tools: tools.map((entry) => ('module' in entry ? entry.shown : entry.name)),
  };
  logger.debug(fields, 'The trusted side is ready');
}

/** Logs what the cell enforces. `begun`: when its start began. */
export function logCell(logger: Logger | undefined, cell: Cell, begun?: number): void {
  if (logger === undefined) return;
  const { id, backend, workspace, isolation } = cell;
  const named = (enforced: boolean) =>
    isolation.facts.filter((fact) => fact.enforced === enforced).map(({ code }) => code);
  const fields = {
    cell: id,
    backend,
    workspace,
    tier: isolation.tier,
    enforced: named(true),
    notEnforced: named(false),
    ...(begun !== undefined && { startMs: Math.round(performance.now() - begun) }),
  };
  logger.debug(fields, `The cell enforces ${isolation.tier}`);
}
