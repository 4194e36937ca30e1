/**
 * The hosts that this user allowed for always, when a cell asked. The records are among the user's own settings, out of
 * reach of cells and projects.
 */
import { join } from 'node:path';
import { z } from 'zod';
import { OwnRecords } from '../../../base/own-records.js';
import { configDirectory } from '../../../base/user-directories.js';

const recordSchema = z.strictObject({
  host: z.string(),
  port: z.int(),
  allowedAt: z.string(),
  /** Who answered, where that is known. */
  who: z.string().optional(),
});

/** One place that cells reach without a question. */
export type AllowedHost = z.output<typeof recordSchema>;

interface Place {
  readonly host: string;
  readonly port: number;
}

export function isAllowed({ host, port }: Place): boolean {
  const record = records().get(`${host}:${port}`);
  return record?.host === host && record.port === port;
}

export function remember({ host, port }: Place, who: string | undefined): void {
  records().put(`${host}:${port}`, {
    host,
    port,
    allowedAt: new Date().toISOString(),
    ...(who !== undefined && { who }),
  });
}

export function listAllowed(): AllowedHost[] {
  return records()
    .list()
    .sort((left, right) =>
      left.host < right.host ? -1 : left.host > right.host ? 1 : left.port - right.port,
    );
}

/** Takes it back, and all ports of the host where none is named. False when there was none. */
export function forget(host: string, port: number | undefined): boolean {
  const those = listAllowed().filter(
    (known) => known.host === host.toLowerCase() && (port === undefined || known.port === port),
  );
  for (const known of those) records().remove(`${known.host}:${known.port}`);
  return those.length > 0;
}

function records(): OwnRecords<typeof recordSchema> {
  return new OwnRecords(join(configDirectory(), 'allowed-hosts'), recordSchema);
}
