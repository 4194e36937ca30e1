/** The program of a cell in one file. The package contains it; a source checkout bundles it on first use. */
import { readFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Plugin } from 'esbuild';
import { inlinePrograms } from '../../../base/inline-programs.js';
import { packageVersion } from '../../../base/package-version.js';
import { WorkcellError } from '../../../protocol/index.js';

/** Packages that do not work in one file. Where they are installed, ship them unchanged. */
export const wholePackages = ['playwright-core'];

const isSource = import.meta.url.endsWith('.ts');

/** Beside its sources. */
const builtFile = fileURLToPath(new URL('../../../cell/main.cjs', import.meta.url));

export async function executorScript(): Promise<Uint8Array> {
  if (isSource) return bundleScript(fileURLToPath(new URL('../../../cell/main.ts', import.meta.url)));
  try {
    return await readFile(builtFile);
  } catch (cause) {
    throw new WorkcellError(
      'internal',
      `The bundled executor is missing from the package: ${builtFile}. "npm run build" makes it.`,
      { cause },
    );
  }
}

/** Bundles a program and everything that it imports into one CommonJS file. The same sources give the same bytes. */
async function bundleScript(entry: string): Promise<Uint8Array> {
  // Needed to make the package, not to use it.
  const { build } = await import('esbuild');
  const { outputFiles } = await build({
    entryPoints: [entry],
    bundle: true,
    write: false,
    platform: 'node',
    target: 'node20.19',
    format: 'cjs',
    minify: true,
    legalComments: 'none',
    logLevel: 'silent',
    charset: 'ascii',
    // Loaded from beside the script: a native module, and packages that read their own files.
    external: ['@lydell/*', ...wholePackages],
    define: { 'import.meta.url': 'scriptUrl', bundledVersion: JSON.stringify(packageVersion()) },
    banner: { js: "const scriptUrl = require('node:url').pathToFileURL(__filename).href;" },
    plugins: [late, inlinePrograms([dirname(entry)])],
  });
  const [script] = outputFiles;
  if (script === undefined) throw new WorkcellError('internal', `Nothing was bundled from ${entry}.`);
  return script.contents;
}

/** Modules that libraries load at their start, and that an executor on a socket seldom needs. */
const seldomNeeded = /^((node:)?(https|http2|tls|dns)|duplexify)$/;

const late: Plugin = {
  name: 'what is seldom needed loads when it is used',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: seldomNeeded }, ({ path, kind, namespace, resolveDir }) =>
      kind === 'require-call' && namespace === 'file'
        ? { path, namespace: 'late', pluginData: resolveDir }
        : undefined,
    );
    onLoad({ filter: /.*/, namespace: 'late' }, ({ path, pluginData }) => ({
      resolveDir: pluginData,
      contents: `
        const load = () => require(${JSON.stringify(path)});
        module.exports = new Proxy(function () {}, {
          get: (_, name) => load()[name],
          construct: (_, words) => new (load())(...words),
        });`,
    }));
  },
};
