/** Writes the audit record: JSON lines, each bound to the previous one, in files that rotate by size. */
import {
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { WorkcellError } from '../../../protocol/index.js';
import { type AuditEntry, type AuditRecord, firstPrevious, seal } from './record.js';
import { headSchema, verifyAudit } from './verify.js';

/** Where the audit record is, and when its file rotates. */
export interface AuditLogOptions {
  readonly file: string;
  /** Renames a file that has grown to this size to `<file>.1`, `.2`, …; the chain continues. Default: 64 MiB. */
  readonly rotateBytes?: number | undefined;
  /** Waits for the disk after each record. Default: true. */
  readonly sync?: boolean | undefined;
}

/** The audit record in a file, open for appending. */
export interface AuditLog {
  append(entry: AuditEntry): AuditRecord;
  close(): void;
}

/** Opens the record for appending. Refuses to continue one whose end somebody has tampered with. */
export function openAuditLog({ file, rotateBytes = 67_108_864, sync = true }: AuditLogOptions): AuditLog {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  let { sequence, hash, part } = resume(file);
  let descriptor = openSync(file, 'a', 0o600);
  let size = statSync(file).size;

  const rotate = () => {
    closeSync(descriptor);
    part++;
    renameSync(file, `${file}.${part}`);
    descriptor = openSync(file, 'a', 0o600);
    size = 0;
  };
  return {
    append(entry) {
      if (size >= rotateBytes) rotate();
      const record = seal(entry, sequence + 1, hash);
      const line = `${JSON.stringify(record)}\n`;
      size += writeSync(descriptor, line);
      if (sync) fsyncSync(descriptor);
      ({ sequence, hash } = record);
      writeHead(file, { sequence, hash, part });
      return record;
    },
    close() {
      if (descriptor !== -1) closeSync(descriptor);
      descriptor = -1;
    },
  };
}

/** The head stands apart from the lines, so that cutting lines off the end shows. */
function writeHead(file: string, head: { sequence: number; hash: string; part: number }): void {
  const fresh = `${file}.head.new`;
  writeFileSync(fresh, JSON.stringify(head), { mode: 0o600 });
  renameSync(fresh, `${file}.head`);
}

function resume(file: string): { sequence: number; hash: string; part: number } {
  if (!existsSync(`${file}.head`) && !existsSync(file)) return { sequence: 0, hash: firstPrevious, part: 0 };
  const result = verifyAudit(file);
  const [problem] = result.problems;
  if (problem !== undefined)
    throw new WorkcellError(
      'internal',
      `Workcell cannot continue the audit record ${file}: ${problem.message} Keep it for inspection and choose another file.`,
      {
        details: { ...problem },
      },
    );
  const part = existsSync(`${file}.head`)
    ? headSchema.parse(JSON.parse(readFileSync(`${file}.head`, 'utf8'))).part
    : 0;
  // A crash between a line and its head leaves the head one behind; the line has its hash and stays.
  return { sequence: result.records, hash: result.lastHash, part };
}
