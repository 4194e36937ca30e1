/** Where tools come from, as callers write it: `package/module#export`, `./file.ts#export`, or either without export. */
import { fileURLToPath } from 'node:url';
import { WorkcellError } from '../../protocol/index.js';

export interface Entrypoint {
  /** As it was written, for errors. */
  readonly shown: string;
  /** What is imported: a package or a file. */
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
