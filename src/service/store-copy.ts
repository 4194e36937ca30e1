/** The file of a service's store, and a copy of it to keep: whole, also while the service runs. */
import { createHash, randomBytes } from 'node:crypto';
import { closeSync, existsSync, fsyncSync, linkSync, openSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { stateDirectory } from '../base/user-directories.js';
import { loadConfig } from '../config/load-config.js';
import { WorkcellError } from '../protocol/index.js';
import { copyDatabase } from '../runtime/events/sqlite/copy-database.js';

export function isPostgres(store: string | undefined): store is string {
  return store?.startsWith('postgres') === true;
}

/** `named`: the setting `service.store`. */
export function storeFile(named: string | undefined): string {
  return named?.slice('sqlite:'.length) ?? join(stateDirectory(), 'service.db');
}

/** Where the files of checkpoints are. Services on one machine may have several databases, each with a secret of its own. */
export function checkpointsBeside(named: string | undefined, secret: string): string {
  if (!isPostgres(named)) return `${storeFile(named)}.checkpoints`;
  const digest = createHash('sha256').update(`checkpoints ${secret}`).digest('hex').slice(0, 16);
  return join(stateDirectory(), `service-${digest}.checkpoints`);
}

/** Copies the store of that configuration to a new file, which only this user can read. Returns the file that it copied. */
export async function copyStore(config: string | false | undefined, target: string): Promise<string> {
  const { values } = await loadConfig({ cwd: process.cwd(), env: process.env, file: config });
  if (isPostgres(values.service.store))
    throw new WorkcellError(
      'capability-unsupported',
      'The store of this service is in PostgreSQL. Copy its schemas with pg_dump instead.',
    );
  const store = storeFile(values.service.store);
  const draft = join(dirname(target), `.${basename(target)}.${randomBytes(6).toString('hex')}`);
  if (existsSync(target)) throw alreadyThere(target);
  try {
    makeEmpty(draft);
  } catch (cause) {
    throw refusal(target, cause);
  }
  try {
    await copyDatabase(store, draft, { what: 'store of the service', setting: 'service.store' });
    sync(draft);
    publish(draft, target);
    sync(dirname(target));
  } finally {
    rmSync(draft, { force: true });
  }
  return store;
}

function makeEmpty(path: string): void {
  closeSync(openSync(path, 'wx', 0o600));
}

/** The name is there with the whole copy or not at all, and never takes that of another file. */
function publish(draft: string, target: string): void {
  try {
    linkSync(draft, target);
  } catch (cause) {
    throw refusal(target, cause);
  }
}

function sync(path: string): void {
  const descriptor = openSync(path, 'r');
  fsyncSync(descriptor);
  closeSync(descriptor);
}

function refusal(target: string, cause: unknown): WorkcellError {
  const { code, message } = cause as NodeJS.ErrnoException;
  if (code !== 'EEXIST')
    return new WorkcellError('invalid-config', `Workcell cannot write the copy ${target}: ${message}.`, {
      cause,
    });
  return alreadyThere(target, cause);
}

function alreadyThere(target: string, cause?: unknown): WorkcellError {
  return new WorkcellError('already-exists', `${target} is there already. Name a new file for the copy.`, {
    cause,
  });
}
