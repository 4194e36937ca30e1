import { resolve } from 'node:path';
import type { FunctionTool } from './function-tool.js';

/** The tools of an entry point: a Python file, or a JavaScript or TypeScript module. `from`: where relative ones start. */
export async function toolsFrom(
  entrypoint: string,
  given?: unknown,
  from: string = process.cwd(),
): Promise<FunctionTool[]> {
  if (/\.py$/.test(entrypoint)) {
    const { pythonTools } = await import('./python/python-tools.js');
    return pythonTools(entrypoint.startsWith('file:') ? entrypoint : resolve(from, entrypoint));
  }
  const { loadTools } = await import('./load-tools.js');
  return loadTools(entrypoint, { arguments: given, from });
}
