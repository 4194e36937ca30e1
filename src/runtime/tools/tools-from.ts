import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { WorkcellError } from '../../protocol/index.js';
import { pythonFile, pythonName, splitArguments } from './entrypoint.js';
import type { FunctionTool } from './function-tool.js';
import type { Module } from './origin.js';

/** Tools that only the cell can describe: a Python module whose name is, holds or makes them. */
export interface ToldInside {
  /** The entry point, for errors. */
  readonly shown: string;
  readonly module: Module;
}

/**
 * The tools of an entry point: a Python file, a name in a Python module, or a JavaScript or TypeScript module. JSON
 * behind it is the argument for the tools. `from`: where relative entry points start. For a Python class or name,
 * `runtime.findTools` asks the cell for the tools.
 */
export async function toolsFrom(
  text: string,
  given?: unknown,
  from: string = process.cwd(),
): Promise<readonly FunctionTool[] | ToldInside> {
  const { entrypoint, arguments: behind } = splitArguments(text);
  const made = given ?? behind;
  const file = pythonFile(entrypoint);
  if (file !== undefined) return fromPythonFile(text, file, made, from);
  const python = pythonName(entrypoint, from);
  if (python !== undefined) {
    const source = `from ${python.module} import ${python.name}\n`;
    return toldInside(text, source, python.name, made);
  }
  const { loadTools } = await import('./load-tools.js');
  return loadTools(entrypoint, { arguments: made, from });
}

export function isToldInside(found: readonly FunctionTool[] | ToldInside): found is ToldInside {
  return !Array.isArray(found);
}

async function fromPythonFile(
  shown: string,
  { file, name }: { file: string; name?: string | undefined },
  made: unknown,
  from: string,
): Promise<readonly FunctionTool[] | ToldInside> {
  const path = file.startsWith('file:') ? fileURLToPath(file) : resolve(from, file);
  if (name === undefined && made === undefined) {
    const { pythonTools } = await import('./python/python-tools.js');
    return pythonTools(path);
  }
  const source = await readFile(path, 'utf8').catch((cause: Error) => {
    throw new WorkcellError(
      'invalid-tool',
      `${path} cannot be used for tools: it cannot be read: ${cause.message}.`,
      { details: { file: path }, cause },
    );
  });
  return toldInside(shown, source, name, made);
}

function toldInside(shown: string, source: string, name: string | undefined, made: unknown): ToldInside {
  if (made !== undefined && (typeof made !== 'object' || made === null || Array.isArray(made))) {
    throw new WorkcellError(
      'invalid-tool',
      `The arguments of ${JSON.stringify(shown)} are ${JSON.stringify(made)}; Python takes an object with the arguments by name.`,
      { details: { entrypoint: shown } },
    );
  }
  const module: Module = { language: 'python', source, ...(name === undefined ? {} : { name }) };
  return { shown, module: made === undefined ? module : { ...module, arguments: made } };
}
