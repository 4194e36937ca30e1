/**
 * Which configuration files of projects this user has trusted, each with the hash of its text at that time. The
 * record is in the user's state directory, out of reach of whoever writes the project.
 */
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { z } from 'zod';
import { OwnRecords } from '../base/own-records.js';
import { readTrusted } from '../base/trusted-path.js';
import { stateDirectory } from '../base/user-directories.js';

type Environment = Readonly<Record<string, string | undefined>>;

const recordSchema = z.strictObject({ path: z.string(), sha256: z.string(), trustedAt: z.string() });

/** `changed`: the user trusted it with another text. */
export type Trust = 'trusted' | 'changed' | 'unknown';

export interface TrustedFile {
  readonly path: string;
  readonly trustedAt: string;
  /** The current state of the file; `gone` also when it is no longer readable. */
  readonly state: 'trusted' | 'changed' | 'gone';
}

/** What this user decided about a file with this text. */
export function trustOf(path: string, text: string, env: Environment): Trust {
  const record = recordsOf(env).get(path);
  if (record?.path !== path) return 'unknown';
  return record.sha256 === hash(text) ? 'trusted' : 'changed';
}

/** From here on the file counts as long as it has this text. */
export function trust(path: string, text: string, env: Environment): void {
  recordsOf(env).put(path, { path, sha256: hash(text), trustedAt: new Date().toISOString() });
}

/** False when the user had not trusted it. */
export function untrust(path: string, env: Environment): boolean {
  return recordsOf(env).remove(path);
}

export function listTrusted(env: Environment): TrustedFile[] {
  return recordsOf(env)
    .list()
    .map(({ path, sha256, trustedAt }) => ({ path, trustedAt, state: stateOf(path, sha256) }))
    .sort((left, right) => (left.path < right.path ? -1 : 1));
}

function stateOf(path: string, sha256: string): TrustedFile['state'] {
  try {
    return hash(readTrusted(path, { follow: false }).text) === sha256 ? 'trusted' : 'changed';
  } catch {
    return 'gone';
  }
}

function recordsOf(env: Environment): OwnRecords<typeof recordSchema> {
  return new OwnRecords(join(stateDirectory(env), 'trusted'), recordSchema);
}

function hash(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
