/** Keeps the record of a cell away from the cell: files that the trusted side writes must not lie in the workspace. */
import { realpathSync } from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { WorkcellError } from '../protocol/index.js';

/** A program in the cell could change its own record, or answer a question that waits in it for a person. */
export function checkRecordPlaces(
  workspace: string | undefined,
  files: Readonly<Record<string, string | undefined>>,
): void {
  if (workspace === undefined) return;
  const place = withoutLinks(workspace);
  for (const [setting, file] of Object.entries(files)) {
    if (file === undefined || !namesOf(file).some((name) => isWithin(name, place))) continue;
    throw new WorkcellError(
      'invalid-config',
      `${setting} names ${file}, which is in the workspace ${workspace}: what runs in the cell could change it. Name a file elsewhere.`,
    );
  }
}

/** The file of a store that is one. */
export function fileOfStore(store: string | undefined): string | undefined {
  return store?.startsWith('sqlite:') ? store.slice('sqlite:'.length) : undefined;
}

/** Where the name is, and where it leads to when it is a link. */
function namesOf(file: string): string[] {
  const path = resolve(file);
  return [join(withoutLinks(dirname(path)), basename(path)), withoutLinks(path)];
}

/** What does not exist yet comes to lie in the nearest directory that does. */
function withoutLinks(path: string): string {
  const whole = resolve(path);
  try {
    return realpathSync(whole);
  } catch {
    const parent = dirname(whole);
    return parent === whole ? whole : join(withoutLinks(parent), basename(whole));
  }
}

function isWithin(path: string, directory: string): boolean {
  const way = relative(directory, path);
  return way !== '..' && !way.startsWith('../');
}
