import { accessSync, constants, statSync } from 'node:fs';
import { resolve } from 'node:path';

/**
 * Where a program would be started from: a name with a slash is taken from `cwd`, any other is looked for in the
 * directories of `path`. Undefined when there is no such file or it may not be executed.
 */
export function findProgram(name: string, path: string | undefined, cwd = '/'): string | undefined {
  if (name === '') return undefined;
  const candidates = name.includes('/')
    ? [resolve(cwd, name)]
    : searchPath(path).map((folder) => resolve(cwd, folder, name));
  return candidates.find(isExecutable);
}

/** Without a PATH the C library looks in these. An empty entry means the working directory. */
function searchPath(path = '/usr/local/bin:/bin:/usr/bin'): string[] {
  return path.split(':').map((folder) => (folder === '' ? '.' : folder));
}

function isExecutable(file: string): boolean {
  try {
    // The kernel would answer for the real user, which is not the one that programs start as.
    const isDisguised = process.geteuid?.() !== process.getuid?.();
    if (!isDisguised) accessSync(file, constants.X_OK);
    const stats = statSync(file);
    return stats.isFile() && (stats.mode & 0o111) !== 0;
  } catch {
    return false;
  }
}
