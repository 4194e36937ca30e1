/** Directories in the user's cache. Each appears whole or not at all, even when several processes make the same one. */
import { constants } from 'node:fs';
import { access, chmod, lstat, mkdir, mkdtemp, readdir, rename, stat, utimes } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { discardTree } from '../../../base/remove-tree.js';
import { reachTrusted } from '../../../base/trusted-path.js';
import { cacheDirectory } from '../../../base/user-directories.js';
import { isAbandoned, ownedPrefix } from '../../../cell/launchers/scratch.js';
import { WorkcellError } from '../../../protocol/index.js';

/** A kept cell mounts its bundle for a long time. */
const unusedMs = 30 * 24 * 60 * 60 * 1000;

/** Makes the directory unless it exists. `make` fills a draft, which gets the name when it is complete. */
export async function keep(path: string, make: (draft: string) => Promise<void>): Promise<void> {
  const parent = dirname(path);
  let draft: string;
  try {
    await mkdir(parent, { recursive: true, mode: 0o700 });
    checkOwner(parent);
    if (await exists(path)) return;
    await removeAbandoned(parent);
    draft = await mkdtemp(join(parent, ownedPrefix()));
  } catch (cause) {
    throw new WorkcellError(
      'backend-unavailable',
      `Workcell cannot write to the cache ${parent}: ${(cause as Error).message}. Set XDG_CACHE_HOME to a directory of your own.`,
      { cause },
    );
  }
  try {
    await make(draft);
    await openToAll(draft);
    await rename(draft, path);
  } catch (error) {
    await discardTree(draft);
    if (!(await exists(path))) throw error;
  }
}

/** Removes directories of this kind that no process has opened for a month, such as those of earlier versions. */
export async function removeUnused(kind: string, parent = cacheDirectory()): Promise<void> {
  const names = (await readdir(parent)).filter((name) => name.startsWith(kind));
  await Promise.all(
    names.map(async (name) => {
      const path = join(parent, name);
      const { mtimeMs } = await lstat(path);
      if (Date.now() - mtimeMs > unusedMs) await discardTree(path, { onlyOwn: true });
    }),
  );
}

/** Marks a directory as in use. */
export async function touch(path: string): Promise<void> {
  const now = new Date();
  await utimes(path, now, now);
}

/** We run the content of this directory, so refuse one that another user can write to. */
function checkOwner(parent: string): void {
  using directory = reachTrusted(parent);
  if (directory.stats.uid !== process.geteuid?.()) throw new Error('it belongs to another user');
}

async function exists(path: string): Promise<boolean> {
  return access(path, constants.R_OK).then(
    () => true,
    () => false,
  );
}

/** Another user may have to read it, inside the cell that mounts it; this process's mask must not prevent that. */
async function openToAll(directory: string): Promise<void> {
  await chmod(directory, 0o755);
  for (const entry of await readdir(directory, { withFileTypes: true, recursive: true })) {
    const path = join(entry.parentPath, entry.name);
    const executable = entry.isDirectory() || ((await stat(path)).mode & 0o100) !== 0;
    await chmod(path, executable ? 0o755 : 0o644);
  }
}

/** Removes what killed makers left. */
async function removeAbandoned(parent: string): Promise<void> {
  const names = (await readdir(parent)).filter(isAbandoned);
  await Promise.all(names.map((name) => discardTree(join(parent, name), { onlyOwn: true })));
}
