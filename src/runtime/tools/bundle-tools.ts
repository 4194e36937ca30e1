/** Bundles modules of tools with all that they import into one that can be shipped. */
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { BuildFailure, Message, Plugin } from 'esbuild';
import { requirePackages } from '../../base/optional-package.js';
import { WorkcellError } from '../../protocol/index.js';
import type { Entrypoint } from './entrypoint.js';

const here = dirname(fileURLToPath(import.meta.url));
const extension = import.meta.url.endsWith('.ts') ? '.ts' : '.js';

/** Toolkits of this package do not change while it runs, so each is bundled for the first cell that asks and kept. */
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
    `import { collect } from ${JSON.stringify(inside('collect'))};`,
    `import { openKit } from ${JSON.stringify(inside('open-kit'))};`,
    `const entries = [${known.join(', ')}];`,
    'export const open = (given) => openKit(entries, given);',
    'export const find = (given) => collect(entries, given);',
  ];
  return bundle(source.join('\n'), from, entries.map(({ shown }) => shown).join('", "'));
}

/** The same for tools whose functions are given as source. */
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
  requirePackages('Shipping tools into a cell', ['esbuild']);
  const { build } = await import('esbuild');
  try {
    const { outputFiles } = await build({
      stdin: { contents, resolveDir, sourcefile: 'tools-entry.js', loader: 'js' },
      bundle: true,
      write: false,
      platform: 'node',
      target: 'node20.19',
      format: 'esm',
      minifySyntax: true,
      minifyWhitespace: true,
      legalComments: 'none',
      logLevel: 'silent',
      // What a bundled CommonJS package may still ask for is a module of Node itself.
      banner: {
        js: "import { createRequire as workcellRequire } from 'node:module'; const require = workcellRequire(import.meta.url);",
      },
      plugins: [ownModules],
    });
    return outputFiles[0]?.text ?? '';
  } catch (cause) {
    throw new WorkcellError('invalid-tool', describeFailure(cause, shown), {
      details: { entrypoint: shown },
      cause,
    });
  }
}

/** Files of this package that bring much with them, as toolkits of its own and its examples import them. */
const replaced = new Set(
  ['function-tool.js', '../../index.js', '../../protocol/index.js'].map((path) => join(here, path)),
);

const ownToolkit = /^workcell\/toolkits\/([\w-]+)$/;

/** This package as tools see it in a cell. */
const ownModules: Plugin = {
  name: 'workcell',
  setup({ onResolve }) {
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
  const { errors = [] } = cause as Partial<BuildFailure>;
  const [first] = errors;
  if (first === undefined)
    return `"${shown}" cannot be bundled: ${cause instanceof Error ? cause.message : cause}`;
  const missing = /^Could not resolve "(.*)"$/.exec(first.text)?.[1];
  if (missing !== undefined && first.location?.file.endsWith('tools-entry.js'))
    return `The entry point "${shown}" does not exist. Give a file, relative to the working directory, or a package that is installed.`;
  return `"${shown}" cannot be bundled: ${errors.slice(0, 5).map(describeProblem).join('; ')}`;
}

function describeProblem({ text, location }: Message): string {
  return location === null ? text : `${location.file}:${location.line}: ${text}`;
}
