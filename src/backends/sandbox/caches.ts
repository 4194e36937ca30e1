/**
 * What package managers keep from cell to cell. It belongs to a workspace: whoever may leave something in it could as well
 * leave it among the workspace's own files, so a cell learns and trusts nothing here that it does not anyway.
 */
import { createHash } from 'node:crypto';
import { chmodSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { reachTrusted } from '../../base/trusted-path.js';
import { cacheDirectory } from '../../base/user-directories.js';
import { cellUser } from '../../cell/launchers/bubblewrap/layout.js';
import { WorkcellError } from '../../protocol/index.js';
import { removeUnused, touch } from '../images/bundle/bundle-store.js';
import { type CacheName, cachePlaces } from './cache-places.js';

interface CacheMount {
  readonly source: string;
  readonly inside: string;
}

const kind = 'caches-';

/** Makes the directories that are missing. No other user can enter them: programs in a cell may give files any mode. */
export async function openCaches(
  names: readonly CacheName[],
  workspace: string,
  root = cacheDirectory(),
): Promise<CacheMount[]> {
  const digest = createHash('sha256').update(workspace).digest('hex').slice(0, 16);
  const directory = join(root, `${kind}${digest}`);
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    using own = reachTrusted(directory, { follow: false });
    chmodSync(own.base, 0o700);
    const mounts = names
      .flatMap((name) => cachePlaces[name])
      .map((place) => ({
        source: join(own.path, place.replaceAll('/', '-')),
        inside: join(cellUser.home, place),
      }));
    for (const { source } of mounts) mkdirSync(source, { recursive: true, mode: 0o700 });
    await touch(own.path);
    await removeUnused(kind, root).catch(() => {});
    return mounts;
  } catch (cause) {
    throw new WorkcellError(
      'invalid-config',
      `Workcell cannot keep caches in ${directory}: ${(cause as Error).message}. Leave out caches, or set XDG_CACHE_HOME to a directory of your own.`,
      { details: { directory }, cause },
    );
  }
}
