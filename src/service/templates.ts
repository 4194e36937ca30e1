/** Named start options. Clients can choose fewer; everything that widens a cell's rights stands here. */

import type { Backend } from '../backends/backend.js';
import { loadBackend } from '../backends/index.js';
import { checkKeeps, placeOf } from '../cells.js';
import { toOptionNames } from '../config/config-schema.js';
import type { LoadedConfig } from '../config/load-config.js';
import type { ServiceTemplate } from '../protocol/config-service.js';
import { WorkcellError } from '../protocol/index.js';
import type { PluginSpec } from '../protocol/plugin-spec.js';

/** What a cell may take of a machine. */
export interface Declared {
  readonly memoryBytes?: number | undefined;
  readonly cpus?: number | undefined;
}

export interface Template {
  readonly name: string;
  readonly backend: string;
  /** Where its cells are, for a reference to one. */
  readonly place: Readonly<Record<string, unknown>>;
  /** What `createRuntime` gets for a cell of a tenant. */
  options(tenant: string, env: Readonly<Record<string, string>>): Record<string, unknown>;
  /** What each of its cells may take, where the template says so. */
  readonly declared?: Declared | undefined;
  readonly ttlMs?: number | undefined;
  readonly idleMs?: number | undefined;
  readonly onIdle: 'pause' | 'end';
  /** How many cells start ahead, for each tenant that uses it. */
  readonly pool?: number | undefined;
  /** The plugins of its executors, where its protocol needs others than the configuration names. */
  readonly plugins?: readonly PluginSpec[] | undefined;
}

/** A template that a protocol brings. The configuration can complete it. */
export interface BroughtTemplate {
  readonly plugins?: readonly PluginSpec[] | undefined;
}

/**
 * All templates of a configuration and of the protocols that bring some, checked now instead of with the first cell.
 * `chosen`: the backend for those that name none.
 */
export async function readTemplates(
  config: LoadedConfig,
  brought: Readonly<Record<string, BroughtTemplate>>,
  chosen: () => Promise<string>,
): Promise<Map<string, Template>> {
  const { templates } = config.values.service;
  const named = Object.keys(brought).map((name) => [name, {}]);
  const all: Record<string, ServiceTemplate> = { default: {}, ...Object.fromEntries(named), ...templates };
  const read = Object.entries(all).map(async ([name, template]) => {
    const backend = template.backend ?? config.values.backend ?? (await chosen());
    const read = await readTemplate(name, template, backend, config);
    return [name, Object.hasOwn(brought, name) ? withPlugins(read, brought[name]?.plugins) : read] as const;
  });
  return new Map(await Promise.all(read));
}

function withPlugins(template: Template, plugins: readonly PluginSpec[] | undefined): Template {
  if (plugins === undefined) return template;
  return { ...template, plugins, options: (...args) => ({ ...template.options(...args), plugins }) };
}

async function readTemplate(
  name: string,
  template: ServiceTemplate,
  type: string,
  config: LoadedConfig,
): Promise<Template> {
  const backend = await checkKeeps(await loadBackend(type), 'keep cells for a service');
  const own = toOptionNames(template.options ?? {}, backend.options) as Record<string, unknown>;
  checkOptions(name, backend, own);
  return {
    name,
    backend: type,
    place: placeOf(backend, config, own),
    options: (tenant, env) => ({
      ...own,
      backend: type,
      keepAlive: true,
      env: { ...(own.env as Record<string, string> | undefined), ...env },
      // Cells of two tenants never share a process.
      ...(Object.hasOwn(backend.options.shape, 'keeper') && { keeper: `tenant-${tenant}` }),
    }),
    declared: declaredBy(own),
    ttlMs: toMs(template.ttl),
    idleMs: toMs(template.idle),
    onIdle: template.on_idle ?? 'pause',
    pool: template.pool,
  };
}

function declaredBy({ limits }: Record<string, unknown>): Declared {
  const { memoryBytes, cpus } = (limits ?? {}) as Record<string, unknown>;
  return {
    ...(typeof memoryBytes === 'number' && { memoryBytes }),
    ...(typeof cpus === 'number' && { cpus }),
  };
}

function checkOptions(name: string, backend: Backend, own: Record<string, unknown>): void {
  const given = ['keepAlive', 'keeper', 'workspace', 'pool'].find((option) => Object.hasOwn(own, option));
  const problem =
    given === undefined
      ? backend.options.safeParse(own).error?.issues.map(({ path, message }) => [...path, message].join(': '))
      : [`${given} is the service's to choose`];
  if (problem === undefined) return;
  throw new WorkcellError(
    'invalid-config',
    `The template "${name}" does not fit backend "${backend.type}": ${problem.join('; ')}.`,
    { details: { template: name, backend: backend.type } },
  );
}

function toMs(seconds: number | undefined): number | undefined {
  return seconds === undefined ? undefined : Math.ceil(seconds * 1000);
}
