/** Exports the audit record to other systems: as JSON lines, or in the Open Cybersecurity Schema Framework. */
import { own } from '../analyzers/lookup.js';
import type { AuditRecord } from './record.js';
import { readAudit, readAuditStore } from './verify.js';

/** The form of exported records: as they are, or OCSF. */
export type AuditFormat = 'jsonl' | 'ocsf';

/** One line of JSON for each record. */
export function* exportAudit(file: string, format: AuditFormat): Generator<string> {
  for (const record of readAudit(file)) yield JSON.stringify(format === 'ocsf' ? toOcsf(record) : record);
}

/** The same, from a store such as `sqlite:/var/lib/workcell/events.db`. */
export async function* exportAuditStore(name: string, format: AuditFormat): AsyncGenerator<string> {
  for await (const record of readAuditStore(name))
    yield JSON.stringify(format === 'ocsf' ? toOcsf(record) : record);
}

const version = '1.3.0';

/** File System Activity (1001) for the file verbs, Process Activity (1007) for the rest. */
function toOcsf(record: AuditRecord): Record<string, unknown> {
  const { action } = record;
  const path = action.path ?? action.to;
  const activity = own(fileActivities, action.action);
  const shared = {
    category_uid: 1,
    category_name: 'System Activity',
    time: record.time,
    severity_id: own(severities, record.risk ?? '') ?? 0,
    status_id: record.outcome === 'allow' && record.error === undefined ? 1 : 2,
    // 1 Allowed, 2 Denied.
    action_id: record.outcome === 'allow' ? 1 : 2,
    disposition_id: record.outcome === 'allow' ? 1 : 2,
    message: record.reasons?.join(' ') ?? '',
    metadata: {
      version,
      product: { name: 'Workcell', vendor_name: 'Workcell' },
      uid: record.hash,
      sequence: record.sequence,
    },
    actor: { user: { name: record.who }, process: { name: record.who } },
    device: { type_id: 0, type: 'Unknown', hostname: 'workcell' },
    unmapped: {
      by: record.by,
      decided_by: record.decidedBy,
      policy_version: record.policyVersion,
      output_sha256: record.outputDigest,
      error: record.error,
      previous: record.previous,
    },
  };
  if (activity !== undefined && typeof path === 'string') {
    return {
      ...shared,
      class_uid: 1001,
      class_name: 'File System Activity',
      activity_id: activity,
      type_uid: 100_100 + activity,
      file: { name: path.split('/').at(-1) || path, path, type_id: 0 },
    };
  }
  const line =
    typeof action.command === 'string'
      ? action.command
      : Array.isArray(action.argv)
        ? action.argv.join(' ')
        : action.action;
  return {
    ...shared,
    class_uid: 1007,
    class_name: 'Process Activity',
    activity_id: 1,
    activity_name: 'Launch',
    type_uid: 100_701,
    process: { name: action.action, cmd_line: line },
  };
}

/** 1 Create, 2 Read, 3 Update, 4 Delete, 5 Rename. */
export const fileActivities: Readonly<Record<string, number | undefined>> = {
  write: 1,
  make_dir: 1,
  upload: 1,
  copy: 1,
  read: 2,
  list: 2,
  stat: 2,
  glob: 2,
  grep: 2,
  download: 2,
  watch: 2,
  edit: 3,
  remove: 4,
  move: 5,
};

/** 1 Informational, 3 Medium, 4 High; an unknown risk stays 0. */
const severities: Readonly<Record<string, number | undefined>> = { low: 1, medium: 3, high: 4 };
