/** Loads a guard that settings name by its package or file. It is code of this side, so it is settled before who names it. */
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { resolveImport } from '../../base/resolve-import.js';
import { WorkcellError } from '../../protocol/index.js';
import type { Analyzer } from './analyzers/analyzer.js';

/** The default export of the module, which is an analyzer or a function that makes one. */
export async function loadGuard(name: string, from: string): Promise<Analyzer> {
  let exported: unknown;
  try {
    const module = (await import(locate(name, from))) as { default?: unknown };
    exported = typeof module.default === 'function' ? await module.default() : module.default;
  } catch (cause) {
    throw refused(name, `cannot be loaded: ${cause instanceof Error ? cause.message : String(cause)}`, cause);
  }
  const { name: own, analyze } = (exported ?? {}) as Partial<Analyzer>;
  if (typeof own === 'string' && typeof analyze === 'function') return exported as Analyzer;
  throw refused(name, 'is no analyzer: its default export needs a name and the function analyze');
}

function locate(name: string, from: string): string {
  if (name.startsWith('file:')) return name;
  if (/^\.{0,2}\//.test(name)) return pathToFileURL(resolve(from, name)).href;
  return resolveImport(name, from);
}

function refused(name: string, problem: string, cause?: unknown): WorkcellError {
  return new WorkcellError(
    'invalid-config',
    `The guard "${name}" ${problem}. Guards are rules, llm, and packages or files that export an analyzer as default.`,
    { details: { guard: name }, cause },
  );
}
