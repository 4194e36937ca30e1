/** Makes the command line of the built package: one file with all that it imports, and a small one that starts it. */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type BuildOptions, build, type Plugin } from 'esbuild';
import { asFunction } from '../src/backends/images/bundle/code-cache.js';
import { packageVersion } from '../src/base/package-version.js';
import type { PreparedAnswers } from '../src/cli/prepared-answers.js';

const source = fileURLToPath(new URL('../src', import.meta.url));

const common = {
  bundle: true,
  write: false,
  platform: 'node',
  target: 'node20.19',
  minify: true,
  // The starter reads the program as Latin-1, which takes less memory and no decoding.
  charset: 'ascii',
  legalComments: 'none',
  logLevel: 'warning',
} as const satisfies BuildOptions;

/** `built`: the folder of the compiled modules. The files that modules read beside them must be there. */
export async function bundleCommandLine(built: string): Promise<void> {
  const folder = join(built, 'cli');
  const program = await bundled({
    ...common,
    stdin: {
      contents: "import { runWorkcell } from './run-workcell.js'; void runWorkcell();",
      resolveDir: join(source, 'cli'),
    },
    format: 'cjs',
    // Native modules, modules that read their own files, and those that only some users have.
    external: ['@lydell/*', ...packagesOfSome()],
    // Node refuses `import()` to code that runs from a compiled form, so these become `require()`.
    supported: { 'dynamic-import': false },
    define: { 'import.meta.url': 'moduleUrl' },
    // The sources alone ask for more than their address, to start programs under a loader.
    logOverride: { 'empty-import-meta': 'silent' },
    banner: { js: "const builtUrl = require('node:url').pathToFileURL(__dirname + '/../').href;" },
    plugins: [addresses],
  });
  // The bundler leaves letters of other alphabets in regular expressions, and the starter would read them wrong.
  if (program.some((byte) => byte > 0x7f))
    throw new Error(
      'The command line has a regular expression with a letter beyond ASCII: write it as \\u….',
    );
  const digest = createHash('sha256').update(program).digest('hex').slice(0, 16);
  const name = `program-${digest}.cjs`;
  for (const old of readdirSync(folder)) if (/^program-.*\.cjs$/.test(old)) rmSync(join(folder, old));
  writeFileSync(join(folder, name), asFunction(program));
  const starter = await bundled({
    ...common,
    entryPoints: [join(source, 'cli/answer-or-start.ts')],
    // Node takes longer to start modules of the other form, of which it needs none here.
    format: 'cjs',
    define: { bundledProgram: JSON.stringify(name), preparedAnswers: JSON.stringify(await prepareAnswers()) },
    banner: { js: '#!/usr/bin/env node' },
  });
  writeFileSync(join(folder, 'main.cjs'), starter, { mode: 0o755 });
  writeFileSync(join(folder, 'main.js'), "import './main.cjs';\n");
}

async function prepareAnswers(): Promise<PreparedAnswers> {
  // Only who makes a new bundle needs all commands.
  const { createProgram } = await import('../src/cli/program.js');
  const helpAt = (width?: number) => {
    let text = '';
    createProgram()
      .configureOutput({
        writeOut: (part) => {
          text += part;
        },
        getOutHelpWidth: () => width as number,
      })
      .outputHelp();
    return text;
  };
  const widest = 10_000;
  return { version: packageVersion(), help: helpAt(), wideHelp: helpAt(widest) };
}

async function bundled(options: BuildOptions & { write: false }): Promise<Uint8Array> {
  const [file] = (await build(options)).outputFiles;
  if (file === undefined) throw new Error('Nothing was bundled.');
  return file.contents;
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
