import type { FunctionTool } from '../index.js';

/** The tools of an entry point: a Python file, or a JavaScript or TypeScript module. */
export async function toolsFrom(entrypoint: string, given?: unknown): Promise<FunctionTool[]> {
  const { loadTools, pythonTools } = await import('../index.js');
  return /\.py$/.test(entrypoint) ? pythonTools(entrypoint) : loadTools(entrypoint, { arguments: given });
}
