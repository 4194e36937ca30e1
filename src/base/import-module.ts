/** start-program.cjs stores a way to import under this name, for a program that runs from its compiled form. */
export const importerName = 'workcell.import';

type Importer = (address: string) => Promise<{ default?: unknown }>;

/**
 * Loads a module by its address. Node refuses `import()` to code that runs from a code cache, so the starter of such
 * code supplies its own.
 */
export function importModule(address: string): Promise<{ default?: unknown }> {
  const given = (globalThis as { [name: symbol]: Importer | undefined })[Symbol.for(importerName)];
  return given === undefined ? import(address) : given(address);
}
