/**
 * Loads a guard that settings name by its package or file. It runs on the trusted side, so only trusted settings may
 * name it.
 */
import { importModule } from '../../base/import-module.js';
import { locateModule } from '../../base/resolve-import.js';
import { checkTrustedModule } from '../../base/trusted-module.js';
import { WorkcellError } from '../../protocol/index.js';
import type { Analyzer } from './analyzers/analyzer.js';

/** The default export of the module, which is an analyzer or a function that makes one. */
export async function loadGuard(name: string, from: string): Promise<Analyzer> {
  let exported: unknown;
  try {
    const address = locateModule(name, from);
    checkTrustedModule(address);
    const module = await importModule(address);
    exported = typeof module.default === 'function' ? await module.default() : module.default;
  } catch (cause) {
    throw refused(name, `cannot be loaded: ${cause instanceof Error ? cause.message : String(cause)}`, cause);
  }
  const { name: own, analyze } = (exported ?? {}) as Partial<Analyzer>;
  if (typeof own === 'string' && typeof analyze === 'function') return exported as Analyzer;
  throw refused(name, 'is no analyzer: its default export needs a name and the function analyze');
}

function refused(name: string, problem: string, cause?: unknown): WorkcellError {
  return new WorkcellError(
    'invalid-config',
    `The guard "${name}" ${problem}. Guards are rules, llm, and packages or files that export an analyzer as default.`,
    { details: { guard: name }, cause },
  );
}
