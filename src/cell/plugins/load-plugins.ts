/** Finds plugins: those of this package by their names, others as packages or files. */
import * as z from 'zod';
import { importModule } from '../../base/import-module.js';
import { locateModule } from '../../base/resolve-import.js';
import { WorkcellError } from '../../protocol/index.js';
import type { PluginSpec } from '../../protocol/plugin-spec.js';
import { builtinPlugins, defaultPlugins } from './builtin.js';
import type { Plugin } from './plugin.js';

export interface LoadedPlugin {
  readonly plugin: Plugin;
  /** How another process finds it: its own name, or the address of its module. */
  readonly source: string | undefined;
  readonly options?: unknown;
}

/**
 * Without a list: the plugins of this package that cost nothing until you use them. `check` throws for the address of
 * a module that we must not load here.
 */
export async function loadPlugins(
  specs: readonly (PluginSpec | Plugin)[] = defaultPlugins,
  from: string = process.cwd(),
  check?: (address: string) => void,
): Promise<LoadedPlugin[]> {
  return Promise.all(specs.map((spec) => loadPlugin(spec, from, check)));
}

/** The plugins in a form that another process can load. A plugin given as an object cannot cross. */
export function pluginSpecs(plugins: readonly LoadedPlugin[]): PluginSpec[] {
  return plugins.map(({ plugin, source, options }) => {
    if (source === undefined) {
      throw new WorkcellError(
        'invalid-config',
        `Plugin "${plugin.name}" is an object, and this backend runs in another process. Name its package or file instead.`,
        { details: { plugin: plugin.name } },
      );
    }
    return options === undefined ? source : { name: source, options };
  });
}

/** Importing a module again still takes a moment, which every cell would pay. */
const builtins = new Map<string, Promise<Plugin>>();

function loadBuiltin(name: string): Promise<Plugin> | undefined {
  const load = Object.hasOwn(builtinPlugins, name) ? builtinPlugins[name] : undefined;
  if (load === undefined) return undefined;
  const known = builtins.get(name) ?? load().then((module) => module.default);
  builtins.set(name, known);
  return known;
}

async function loadPlugin(
  spec: PluginSpec | Plugin,
  from: string,
  check?: (address: string) => void,
): Promise<LoadedPlugin> {
  if (typeof spec === 'object' && 'initialize' in spec)
    return { plugin: checkPlugin(spec, spec.name), source: undefined };
  const { name, options } = typeof spec === 'string' ? { name: spec, options: undefined } : spec;
  const builtin = loadBuiltin(name);
  if (builtin !== undefined) return { plugin: await builtin, source: name, options };
  let source: string;
  let module: { default?: unknown };
  try {
    source = locateModule(name, from);
    check?.(source);
    module = await importModule(source);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new WorkcellError(
      'invalid-config',
      `Plugin "${name}" cannot be loaded: ${reason}. Plugins of this package: ${Object.keys(builtinPlugins).join(', ')}; others are packages or files that export one as default.`,
      { details: { plugin: name }, cause },
    );
  }
  return { plugin: checkPlugin(module.default, name), source, options };
}

const functionSchema = z.custom((value) => typeof value === 'function', 'must be a function');

const pluginSchema = z.looseObject({
  name: z.string().regex(/^[a-z][\w@/.-]*$/i, 'must be a name'),
  version: z.string(),
  summary: z.string(),
  actions: z.record(z.string(), z.looseObject({ name: z.string(), input: z.custom(), output: z.custom() })),
  verbs: z.record(z.string().regex(/^(?!then$)[a-z]\w*$/i, 'must be a name'), functionSchema).optional(),
  initialize: functionSchema,
});

function checkPlugin(value: unknown, name: string): Plugin {
  const result = pluginSchema.safeParse(value);
  if (result.success) return value as Plugin;
  const problems = result.error.issues.map(
    ({ path, message }) => `${path.join('.') || 'default export'}: ${message}`,
  );
  throw new WorkcellError('invalid-config', `"${name}" is not a plugin: ${problems.join('; ')}.`, {
    details: { plugin: name },
  });
}
