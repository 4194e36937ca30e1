/** One database file: its driver, its settings and its schema. */
import { closeSync, mkdirSync, openSync } from 'node:fs';
import { dirname } from 'node:path';
import type { DatabaseSyncInstance } from '@photostructure/sqlite';
import { WorkcellError } from '../../../protocol/index.js';

/** How long a write waits for another process's write. */
const busyMs = 2000;

/** What a database file holds, as messages call it. */
export interface Kept {
  /** Such as `event store`. */
  readonly what: string;
  /** The setting that names the file. */
  readonly setting: string;
}

export interface DatabaseKind extends Kept {
  /** The steps that lead to its schema. */
  readonly migrations: readonly string[];
}

export async function openDatabase(
  file: string,
  durability: 'process' | 'machine',
  kind: DatabaseKind,
): Promise<DatabaseSyncInstance> {
  const { DatabaseSync } = await loadDriver(kind);
  let database: DatabaseSyncInstance | undefined;
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    makeFile(file);
    database = new DatabaseSync(file, { timeout: busyMs });
    // Returns free space to the system; this must come before the first table.
    database.exec('PRAGMA auto_vacuum = INCREMENTAL; PRAGMA journal_mode = WAL');
    database.exec(`PRAGMA synchronous = ${durability === 'machine' ? 'FULL' : 'NORMAL'}`);
    migrate(database, file, kind);
    return database;
  } catch (error) {
    if (database?.isOpen) database.close();
    if (WorkcellError.isInstance(error)) throw error;
    throw unavailable(file, error, kind);
  }
}

/**
 * Create the file before SQLite does, because no other user may read it; its companions take its mode. Do not open an
 * existing one: closing it again would drop the locks that another connection of this process holds on it.
 */
function makeFile(file: string): void {
  try {
    closeSync(openSync(file, 'wx', 0o600));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}

export function unavailable(file: string, error: unknown, { what, setting }: Kept): WorkcellError {
  const reason = error instanceof Error ? error.message : String(error);
  return new WorkcellError(
    'store-unavailable',
    `Workcell cannot use the ${what} ${file}: ${reason}. Check that you can write to its directory and that it has space, or choose another with ${setting}.`,
    { details: { store: `sqlite:${file}` }, cause: error },
  );
}

export async function loadDriver({ what, setting }: Kept): Promise<typeof import('@photostructure/sqlite')> {
  try {
    return await import('@photostructure/sqlite');
  } catch (error) {
    throw new WorkcellError(
      'store-unavailable',
      `Workcell cannot open the ${what} (${setting}): the driver of SQLite does not load on ${process.platform} ${process.arch}. Install it with "npm install @photostructure/sqlite".`,
      { details: { package: '@photostructure/sqlite' }, cause: error },
    );
  }
}

/** Migrates the schema to the newest version in one transaction; the first process does it. */
function migrate(
  database: DatabaseSyncInstance,
  file: string,
  { what, setting, migrations }: DatabaseKind,
): void {
  if (versionOf(database) === migrations.length) return;
  database.exec('BEGIN IMMEDIATE');
  try {
    const version = versionOf(database);
    if (version > migrations.length)
      throw new WorkcellError(
        'store-unavailable',
        `The ${what} ${file} comes from a newer Workcell (schema ${version}, this one knows ${migrations.length}). Update Workcell, or choose another file with ${setting}.`,
        { details: { store: `sqlite:${file}`, version } },
      );
    for (const step of migrations.slice(version)) database.exec(step);
    database.exec(`PRAGMA user_version = ${migrations.length}`);
    database.exec('COMMIT');
  } catch (error) {
    database.exec('ROLLBACK');
    throw error;
  }
}

function versionOf(database: DatabaseSyncInstance): number {
  return Number((database.prepare('PRAGMA user_version').get() as { user_version: number }).user_version);
}
