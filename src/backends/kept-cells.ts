/** Where this user's cells have their directories that outlive the process which started them. */
import { lstatSync, mkdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { WorkcellError } from '../protocol/index.js';

export function keptDirectory(): string {
  const { XDG_RUNTIME_DIR: own } = process.env;
  return own !== undefined && own !== ''
    ? join(own, 'workcell')
    : join(tmpdir(), `workcell-${process.getuid?.() ?? 0}`);
}

/** In a directory that others may write to, the name could have been taken by somebody else. */
export function ensureKeptDirectory(): string {
  const path = keptDirectory();
  mkdirSync(path, { recursive: true, mode: 0o700 });
  const found = lstatSync(path);
  const { uid, mode } = found;
  if (found.isDirectory() && uid === process.getuid?.() && (mode & 0o077) === 0) return path;
  throw new WorkcellError(
    'backend-unavailable',
    `${path} is not a directory of this user alone, so cells cannot be kept there. Remove it, or set XDG_RUNTIME_DIR.`,
    { details: { path } },
  );
}
