/**
 * Which remotes a workspace has, as its owner left them. A cell can write the `.git/config` of its workspace, so we
 * copy the file before the first cell starts there, and only the copy counts from then on.
 */
import { createHash } from 'node:crypto';
import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  linkSync,
  openSync,
  readdirSync,
  readFileSync,
  realpathSync,
  statSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { openOwnDirectory } from '../../base/own-directory.js';
import { stateDirectory } from '../../base/user-directories.js';

/** No git configuration is longer; a longer file counts as empty. */
const longestBytes = 262_144;

/** From this many on, remove copies for workspaces that no longer exist. */
const manyCopies = 1000;

/** Call it before a cell starts in the workspace. Returns the path of the copy; later calls change nothing. */
export function keepRemotes(workspace: string): string {
  const path = realpathSync(workspace);
  const directory = join(stateDirectory(), 'remotes');
  const copy = join(directory, nameOf(path));
  if (existsSync(copy)) return copy;
  const { base } = openOwnDirectory(directory);
  const draft = join(base, `.${nameOf(path)}-${process.pid}`);
  writeFileSync(draft, `# ${JSON.stringify(path)}\n${readSettings(path)}`, { mode: 0o600 });
  try {
    linkSync(draft, join(base, nameOf(path)));
  } catch (error) {
    // Another process was first, and the first copy is the one that counts.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    unlinkSync(draft);
  }
  removeStale(base);
  return copy;
}

/** Another directory with the same path is another workspace. A cell cannot replace the directory that it works in. */
function nameOf(path: string): string {
  const { dev, ino } = statSync(path, { bigint: true });
  return createHash('sha256').update(`${dev}:${ino}:${path}`).digest('hex');
}

/** Empty where there are none. Neither follows a link nor waits for a pipe. */
function readSettings(workspace: string): string {
  let descriptor: number | undefined;
  try {
    const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;
    descriptor = openSync(join(workspace, '.git/config'), O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    const file = fstatSync(descriptor);
    return file.isFile() && file.size <= longestBytes ? readFileSync(descriptor, 'utf8') : '';
  } catch {
    return '';
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}

function removeStale(base: string): void {
  const names = readdirSync(base).filter((name) => /^[0-9a-f]{64}$/.test(name));
  if (names.length < manyCopies) return;
  for (const name of names) {
    try {
      const [line = ''] = readFileSync(join(base, name), 'utf8').split('\n', 1);
      if (nameOf(JSON.parse(line.slice(1)) as string) !== name) unlinkSync(join(base, name));
    } catch {
      unlinkSync(join(base, name));
    }
  }
}
