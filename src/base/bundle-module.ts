/** Bundles a module with everything that it imports into one file, ready to ship into a cell. */
import type { BuildFailure, Message, Plugin } from 'esbuild';
import { requirePackages } from './optional-package.js';

export interface BundledModule {
  /** The purpose of the bundle, as the subject of a sentence. */
  readonly purpose: string;
  /** An ECMAScript module. */
  readonly contents: string;
  /** What its imports start from. */
  readonly resolveDir: string;
  /** What messages call it. */
  readonly sourcefile: string;
  /** Finds modules in its own way. */
  readonly resolver: Plugin;
}

/** Throws `package-missing` without esbuild, and esbuild's own errors, which `bundleProblems` reads. */
export async function bundleModule(module: BundledModule): Promise<string> {
  const { purpose, contents, resolveDir, sourcefile, resolver } = module;
  requirePackages(purpose, ['esbuild']);
  const { build } = await import('esbuild');
  const { outputFiles } = await build({
    stdin: { contents, resolveDir, sourcefile, loader: 'js' },
    bundle: true,
    write: false,
    platform: 'node',
    target: 'node20.19',
    format: 'esm',
    minifySyntax: true,
    minifyWhitespace: true,
    legalComments: 'none',
    logLevel: 'silent',
    // A bundled CommonJS package can still require modules of Node itself.
    banner: {
      js: "import { createRequire as workcellRequire } from 'node:module'; const require = workcellRequire(import.meta.url);",
    },
    plugins: [resolver],
  });
  return outputFiles[0]?.text ?? '';
}

/** What went wrong, as the end of a sentence. */
export function describeBundleFailure(cause: unknown): string {
  const problems = bundleProblems(cause).slice(0, 5).map(describeProblem);
  if (problems.length > 0) return problems.join('; ');
  return cause instanceof Error ? cause.message : String(cause);
}

/** Empty when something other than bundling failed. */
export function bundleProblems(cause: unknown): readonly Message[] {
  return (cause as Partial<BuildFailure>).errors ?? [];
}

function describeProblem({ text, location }: Message): string {
  return location === null ? text : `${location.file}:${location.line}: ${text}`;
}
