/** A copy of a database that others may be writing: as it was at one moment, with nothing half done. */
import type { DatabaseSyncInstance } from '@photostructure/sqlite';
import { type Kept, loadDriver, unavailable } from './sqlite-database.js';

/** How long it waits for a moment in which nobody locks the whole file. */
const busyMs = 10_000;

/** `target` is an empty file. Writes nothing into `source`, and does not migrate it. */
export async function copyDatabase(source: string, target: string, kind: Kept): Promise<void> {
  const { DatabaseSync } = await loadDriver(kind);
  let database: DatabaseSyncInstance | undefined;
  try {
    database = new DatabaseSync(source, { readOnly: true, timeout: busyMs });
    database.prepare('VACUUM INTO ?').run(target);
  } catch (error) {
    throw unavailable(source, error, kind);
  } finally {
    if (database?.isOpen) database.close();
  }
}
