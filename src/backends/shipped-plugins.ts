/** Plugins on their way to an executor that has this package and nothing else of this machine, such as in a container. */
import { dirname } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { Plugin as Resolver } from 'esbuild';
import { bundleModule, describeBundleFailure } from '../base/bundle-module.js';
import { builtinPlugins } from '../cell/plugins/builtin.js';
import { type LoadedPlugin, pluginSpecs } from '../cell/plugins/load-plugins.js';
import { WorkcellError } from '../protocol/index.js';
import type { PluginSpec } from '../protocol/plugin-spec.js';

/** Plugins in a form that a place without files of this machine can load. */
export interface ShippedPlugins {
  /** What the executor loads. */
  readonly specs: readonly PluginSpec[];
  /** One module for each plugin that is not of this package, by file name. */
  readonly files: ReadonlyMap<string, string>;
}

/** `directory`: where the files will be, as the executor sees it. */
export async function shipPlugins(
  plugins: readonly LoadedPlugin[],
  directory: string,
): Promise<ShippedPlugins> {
  const files = new Map<string, string>();
  const specs = await Promise.all(
    pluginSpecs(plugins).map(async (spec, index): Promise<PluginSpec> => {
      const source = typeof spec === 'string' ? spec : spec.name;
      if (Object.hasOwn(builtinPlugins, source)) return spec;
      const file = `${index}.mjs`;
      files.set(file, await bundleOf(source, plugins[index]?.plugin.name ?? source));
      const { href } = pathToFileURL(`${directory}/${file}`);
      return typeof spec === 'string' ? href : { ...spec, name: href };
    }),
  );
  return { specs, files };
}

/** This process does not load a module twice, so all its cells get the first version. */
const bundles = new Map<string, Promise<string>>();

function bundleOf(source: string, name: string): Promise<string> {
  const known = bundles.get(source);
  if (known !== undefined) return known;
  const bundle = bundlePlugin(source, name);
  bundles.set(source, bundle);
  // The missing part may exist at the next try.
  bundle.catch(() => bundles.delete(source));
  return bundle;
}

async function bundlePlugin(source: string, name: string): Promise<string> {
  const path = fileURLToPath(source);
  try {
    return await bundleModule({
      purpose: `Bringing the plugin "${name}" into a container`,
      contents: `export { default } from ${JSON.stringify(path)};`,
      resolveDir: dirname(path),
      sourcefile: 'plugin-entry.js',
      resolver: ownModules,
    });
  } catch (cause) {
    if (WorkcellError.isInstance(cause)) throw cause;
    throw new WorkcellError(
      'invalid-config',
      `Plugin "${name}" cannot be brought into a container: ${describeBundleFailure(cause)}`,
      { details: { plugin: name }, cause },
    );
  }
}

const extension = import.meta.url.endsWith('.ts') ? '.ts' : '.js';

/** Entry points of this package that a plugin in a cell may import, whichever copy it has beside it. */
const allowed = new Map(
  Object.entries({
    'workcell/plugins': '../cell/plugins/index',
    'workcell/protocol': '../protocol/index',
  }).map(([name, file]) => [name, fileURLToPath(new URL(`${file}${extension}`, import.meta.url))]),
);

const ownModules: Resolver = {
  name: 'workcell',
  setup({ onResolve }) {
    onResolve({ filter: /^workcell(?:$|\/)/ }, ({ path }) => {
      const own = allowed.get(path);
      if (own !== undefined) return { path: own };
      const text = `"${path}" cannot be imported in a cell; ${[...allowed.keys()].join(' and ')} can`;
      return { errors: [{ text }] };
    });
  },
};
