/**
 * Makes one script of the command line, in parts: what a command does not use is in parts that it does not run, and V8
 * compiles, keeps and restores only functions that ran.
 */
import { readFileSync } from 'node:fs';
import { relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type BuildOptions, build, type OutputFile, type Plugin, transform } from 'esbuild';

const source = fileURLToPath(new URL('../src', import.meta.url));

export const common = {
  platform: 'node',
  target: 'node20.19',
  minify: true,
  // The starter reads the program as Latin-1, which takes less memory and no decoding.
  charset: 'ascii',
  legalComments: 'none',
  logLevel: 'warning',
} as const satisfies BuildOptions;

const entry = 'program';

export async function bundleProgram(): Promise<Uint8Array> {
  const { outputFiles } = await build({
    ...common,
    bundle: true,
    write: false,
    stdin: {
      contents: "import { runWorkcell } from './run-workcell.js'; void runWorkcell();",
      resolveDir: `${source}/cli`,
    },
    format: 'esm',
    splitting: true,
    outdir: '/',
    entryNames: entry,
    chunkNames: '[hash]',
    // Native modules, modules that read their own files, and those that only some users have.
    external: ['@lydell/*', ...packagesOfSome()],
    define: { 'import.meta.url': 'moduleUrl' },
    plugins: [addresses, english],
  });
  const parts = await Promise.all(outputFiles.map(asPart));
  return Buffer.from(`const builtUrl = require('node:url').pathToFileURL(__dirname + '/../').href;
const parts = {${parts.join(',')}};
const loaded = {};
const load = (name) => {
  if (!Object.hasOwn(parts, name)) return require(name);
  if (loaded[name] === undefined) {
    const part = { exports: {} };
    parts[name](load, part);
    loaded[name] = part;
  }
  return loaded[name].exports;
};
load('./${entry}.js');`);
}

/** A function that stands for a file. Node refuses `import()` to code that runs from a compiled form, so it uses `require`. */
async function asPart({ path, text }: OutputFile): Promise<string> {
  const { code } = await transform(text, {
    ...common,
    format: 'cjs',
    supported: { 'dynamic-import': false },
    // The sources alone ask for more than their address, to start programs under a loader.
    logOverride: { 'empty-import-meta': 'silent' },
  });
  return `${JSON.stringify(`.${path}`)}:function(require,module){${code}}`;
}

function packagesOfSome(): string[] {
  const text = readFileSync(new URL('../package.json', import.meta.url), 'utf8');
  const { optionalDependencies, peerDependencies } = JSON.parse(text) as Record<string, object>;
  return Object.keys({ ...optionalDependencies, ...peerDependencies });
}

/** Tells each module the address that it has in the built package: some find files and programs by it. */
const addresses: Plugin = {
  name: 'addresses of modules',
  setup({ onLoad }) {
    onLoad({ filter: /\.ts$/ }, ({ path }) => {
      const text = readFileSync(path, 'utf8');
      if (!path.startsWith(source + sep) || !text.includes('import.meta.url')) return undefined;
      const place = relative(source, path).replace(/\.ts$/, '.js');
      const contents = `const moduleUrl = new URL(${JSON.stringify(place)}, builtUrl).href;\n${text}`;
      return { contents, loader: 'ts' };
    });
  },
};

/** The library of the schemas brings its messages in fifty languages, half of what it is; ours are in one. */
const english: Plugin = {
  name: 'messages in English',
  setup({ onLoad }) {
    onLoad({ filter: /[\\/]zod[\\/]v4[\\/]locales[\\/]index\.js$/ }, () => ({
      contents: "export { default as en } from './en.js';",
    }));
  },
};
