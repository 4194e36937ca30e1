/**
 * Where tools come from, in the form that callers write: `package/module#export`, `./file.ts#export`, either without
 * export, a Python file, `package.Attribute` of Python.
 */
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { WorkcellError } from '../../protocol/index.js';

export interface Entrypoint {
  /** The original text, for errors. */
  readonly shown: string;
  /** The package or file to import. */
  readonly module: string;
  /** Which export; without it, all of the module. */
  readonly name?: string | undefined;
}

export function parseEntrypoint(given: string | URL): Entrypoint {
  const text = String(given);
  const [, path = '', name] = /^(.*?)(?:#([^#/]*))?$/s.exec(text) ?? [];
  if (path === '' || name === '') {
    throw new WorkcellError(
      'invalid-tool',
      `${JSON.stringify(text)} is not an entry point: name a file or a package, and "#export" behind it to choose one of its exports.`,
      { details: { entrypoint: text } },
    );
  }
  return { shown: text, module: path.startsWith('file:') ? fileURLToPath(path) : path, name };
}

/** The JSON directly behind an entry point is the argument of its toolkit, as CAMEL's clients write it. */
export function splitArguments(text: string): { entrypoint: string; arguments: unknown } {
  const [, entrypoint = text, json] = /^([^{]*)(\{.*\})?$/s.exec(text) ?? [];
  if (json === undefined) return { entrypoint, arguments: undefined };
  try {
    return { entrypoint, arguments: JSON.parse(json) };
  } catch (cause) {
    throw new WorkcellError(
      'invalid-tool',
      `The entry point ${JSON.stringify(text)} ends in something that is not JSON: ${json}.`,
      { details: { entrypoint: text }, cause },
    );
  }
}

/** A Python file with "#name" behind it, if that is one. */
export function pythonFile(entrypoint: string): { file: string; name?: string | undefined } | undefined {
  const [, file, name] = /^(.*\.py)(?:#([^#/]*))?$/s.exec(entrypoint) ?? [];
  if (file === undefined) return undefined;
  if (name === undefined || /^[A-Za-z_]\w*$/.test(name)) return { file, name };
  throw new WorkcellError(
    'invalid-tool',
    `${JSON.stringify(entrypoint)} is not an entry point: ${JSON.stringify(name)} is not a name of Python.`,
    { details: { entrypoint } },
  );
}

/**
 * A name in a module that the cell's Python can import. A package of this machine's Node with dots in its name, and a
 * file of JavaScript, are none.
 */
export function pythonName(entrypoint: string, from: string): { module: string; name: string } | undefined {
  const [, module, name] = /^([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)\.([A-Za-z_]\w*)$/.exec(entrypoint) ?? [];
  if (module === undefined || name === undefined || /^(?:[cm]?[jt]s|[jt]sx|json)$/.test(name))
    return undefined;
  try {
    createRequire(join(from, 'entry.js')).resolve(`${entrypoint}/package.json`);
    return undefined;
  } catch (error) {
    return (error as { code?: unknown }).code === 'MODULE_NOT_FOUND' ? { module, name } : undefined;
  }
}
