/** Bundles modules of tools with everything that they import into one module to ship. */
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Plugin } from 'esbuild';
import { bundleModule, bundleProblems, describeBundleFailure } from '../../base/bundle-module.js';
import { inlinePrograms } from '../../base/inline-programs.js';
import { WorkcellError } from '../../protocol/index.js';
import type { Entrypoint } from './entrypoint.js';

const here = dirname(fileURLToPath(import.meta.url));
const extension = import.meta.url.endsWith('.ts') ? '.ts' : '.js';

/** Toolkits of this package do not change while it runs, so bundle each for the first cell that asks and keep it. */
const ownBundles = new Map<string, Promise<string>>();

/** A module that exports `open` for the tool host and `find` for this side, of the tools that entry points name. */
export function bundleEntries(entries: readonly Entrypoint[], from: string): Promise<string> {
  if (!entries.every(({ module }) => ownToolkit.test(module))) return bundleAnew(entries, from);
  const key = JSON.stringify(entries);
  const bundled = ownBundles.get(key) ?? bundleAnew(entries, from);
  ownBundles.set(key, bundled);
  return bundled;
}

function bundleAnew(entries: readonly Entrypoint[], from: string): Promise<string> {
  const known = entries.map(
    ({ shown, name }, index) => `{ module: { ...module${index} }, ...${JSON.stringify({ shown, name })} }`,
  );
  const source = [
    ...entries.map(({ module }, index) => `import * as module${index} from ${JSON.stringify(module)};`),
    `import { collect } from ${JSON.stringify(inside('collect-tools'))};`,
    `import { openKit } from ${JSON.stringify(inside('open-kit'))};`,
    `const entries = [${known.join(', ')}];`,
    'export const open = (given) => openKit(entries, given);',
    'export const find = (given) => collect(entries, given);',
  ];
  return bundle(source.join('\n'), from, entries.map(({ shown }) => shown).join('", "'));
}

/** The same for tools with functions as source. */
export function bundleSources(functions: readonly { name: string; source: string }[]): Promise<string> {
  const tools = functions.map(
    ({ name, source }) => `tool({ name: ${JSON.stringify(name)}, execute: ${source} })`,
  );
  const source = [
    "import { tool } from 'workcell';",
    `import { openKit } from ${JSON.stringify(inside('open-kit'))};`,
    `const tools = [${tools.join(',\n')}];`,
    "export const open = () => openKit([{ module: { tools }, shown: 'the functions' }]);",
  ];
  return bundle(source.join('\n'), here, 'the functions');
}

async function bundle(contents: string, resolveDir: string, shown: string): Promise<string> {
  const purpose = 'Shipping tools into a cell';
  try {
    return await bundleModule({ purpose, contents, resolveDir, sourcefile: entryFile, resolver: ownModules });
  } catch (cause) {
    if (WorkcellError.isInstance(cause)) throw cause;
    throw new WorkcellError('invalid-tool', describeFailure(cause, shown), {
      details: { entrypoint: shown },
      cause,
    });
  }
}

const entryFile = 'tools-entry.js';

/** Files of this package with many imports, as our toolkits and examples import them. */
const replaced = new Set(
  ['function-tool.js', '../../index.js', '../../protocol/index.js'].map((path) => join(here, path)),
);

const ownToolkit = /^workcell\/toolkits\/([\w-]+)$/;

/** This package as tools see it in a cell. */
const ownModules: Plugin = {
  name: 'workcell',
  setup(build) {
    const { onResolve } = build;
    void inlinePrograms([join(here, 'toolkits')]).setup(build);
    onResolve({ filter: /^workcell(?:$|\/)/ }, ({ path }) => {
      const toolkit = ownToolkit.exec(path)?.[1];
      if (toolkit !== undefined) return { path: join(here, 'toolkits', `${toolkit}-toolkit${extension}`) };
      if (path === 'workcell') return { path: inside('workcell') };
      return { errors: [{ text: `"${path}" cannot be used by tools in a cell` }] };
    });
    onResolve({ filter: /^\..*\.js$/ }, ({ path, resolveDir }) =>
      replaced.has(join(resolveDir, path)) ? { path: inside('workcell') } : undefined,
    );
  },
};

function inside(name: string): string {
  return join(here, 'inside', `${name}${extension}`);
}

function describeFailure(cause: unknown, shown: string): string {
  const [first] = bundleProblems(cause);
  const missing = first !== undefined && /^Could not resolve "/.test(first.text);
  if (missing && first.location?.file.endsWith(entryFile))
    return `The entry point "${shown}" does not exist. Give a file, relative to the working directory, or a package that is installed.`;
  return `"${shown}" cannot be bundled: ${describeBundleFailure(cause)}`;
}
