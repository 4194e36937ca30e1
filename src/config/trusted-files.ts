/**
 * Which configuration files of projects this user has trusted, each with the hash of its text at that time. The
 * record is in the user's state directory, out of reach of whoever writes the project.
 */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, renameSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { openOwnDirectory } from '../base/own-directory.js';
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
  let record: z.infer<typeof recordSchema>;
  try {
    const file = join(recordsDirectory(env), nameOf(path));
    record = recordSchema.parse(JSON.parse(readTrusted(file, { follow: false }).text));
  } catch {
    return 'unknown';
  }
  if (record.path !== path) return 'unknown';
  return record.sha256 === hash(text) ? 'trusted' : 'changed';
}

/** From here on the file counts as long as it has this text. */
export function trust(path: string, text: string, env: Environment): void {
  const records = openOwnDirectory(recordsDirectory(env));
  const record = { path, sha256: hash(text), trustedAt: new Date().toISOString() };
  const draft = join(records.base, `.${nameOf(path)}-${process.pid}`);
  writeFileSync(draft, `${JSON.stringify(record)}\n`, { mode: 0o600, flag: 'wx' });
  renameSync(draft, join(records.base, nameOf(path)));
}

/** False when the user had not trusted it. */
export function untrust(path: string, env: Environment): boolean {
  try {
    unlinkSync(join(openOwnDirectory(recordsDirectory(env)).base, nameOf(path)));
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw error;
  }
}

export function listTrusted(env: Environment): TrustedFile[] {
  const records = openOwnDirectory(recordsDirectory(env));
  return readdirSync(records.base)
    .filter((name) => /^[0-9a-f]{64}$/.test(name))
    .flatMap((name) => readRecord(join(records.base, name)))
    .map(({ path, sha256, trustedAt }) => ({ path, trustedAt, state: stateOf(path, sha256) }))
    .sort((left, right) => (left.path < right.path ? -1 : 1));
}

/** Empty for a damaged record, which trusts nothing. */
function readRecord(file: string): z.infer<typeof recordSchema>[] {
  try {
    return [recordSchema.parse(JSON.parse(readFileSync(file, 'utf8')))];
  } catch {
    return [];
  }
}

function stateOf(path: string, sha256: string): TrustedFile['state'] {
  try {
    return hash(readTrusted(path, { follow: false }).text) === sha256 ? 'trusted' : 'changed';
  } catch {
    return 'gone';
  }
}

function recordsDirectory(env: Environment): string {
  return join(stateDirectory(env), 'trusted');
}

/** One file for each, so that two programs can write at once. */
function nameOf(path: string): string {
  return hash(path);
}

function hash(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
