/** Makes the command line of the built package: one file with all that it imports, and a small one that starts it. */
import { createHash } from 'node:crypto';
import { readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { asFunction } from '../src/backends/images/bundle/code-cache.js';
import { packageVersion } from '../src/base/package-version.js';
import type { PreparedAnswers } from '../src/cli/prepared-answers.js';
import { bundleProgram, common } from './bundle-program.js';

const source = fileURLToPath(new URL('../src', import.meta.url));

/** `built`: the folder of the compiled modules. The files that modules read beside them must be there. */
export async function bundleCommandLine(built: string): Promise<void> {
  const folder = join(built, 'cli');
  const program = await bundleProgram();
  // The bundler leaves letters of other alphabets in regular expressions, and the starter would read them wrong.
  if (program.some((byte) => byte > 0x7f))
    throw new Error(
      'The command line has a regular expression with a letter beyond ASCII: write it as \\u….',
    );
  const digest = createHash('sha256').update(program).digest('hex').slice(0, 16);
  const name = `program-${digest}.cjs`;
  for (const old of readdirSync(folder)) if (/^program-.*\.cjs$/.test(old)) rmSync(join(folder, old));
  writeFileSync(join(folder, name), asFunction(program));
  const { outputFiles } = await build({
    ...common,
    bundle: true,
    write: false,
    entryPoints: [join(source, 'cli/answer-or-start.ts')],
    // Node takes longer to start modules of the other form, of which it needs none here.
    format: 'cjs',
    define: { bundledProgram: JSON.stringify(name), preparedAnswers: JSON.stringify(await prepareAnswers()) },
    banner: { js: '#!/usr/bin/env node' },
  });
  writeFileSync(join(folder, 'main.cjs'), outputFiles[0]?.contents ?? '', { mode: 0o755 });
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
