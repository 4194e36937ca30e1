/** Checks an audit record: finds lines that were changed, removed, put elsewhere or cut off. */
import { existsSync, readFileSync } from 'node:fs';
import { z } from 'zod';
import { WorkcellError } from '../../protocol/index.js';
import { type AuditRecord, auditRecordSchema, firstPrevious, hashOf } from './record.js';

export const headSchema = z.object({
  sequence: z.int().nonnegative(),
  hash: z.string(),
  part: z.int().nonnegative(),
});

export interface AuditProblem {
  readonly kind: 'changed' | 'removed' | 'reordered' | 'truncated' | 'malformed';
  readonly file: string;
  readonly line: number;
  readonly message: string;
}

export interface AuditVerification {
  readonly ok: boolean;
  readonly records: number;
  readonly lastHash: string;
  readonly problems: readonly AuditProblem[];
}

/** Checks the record with its rotated parts. A head that is at most one record behind is that of a crash. */
export function verifyAudit(file: string): AuditVerification {
  const problems: AuditProblem[] = [];
  let expected = 1;
  let previous = firstPrevious;
  let records = 0;
  const seen = new Set<number>();
  const hashes = new Map<number, string>();
  for (const { part, line, record } of readLines(file, problems)) {
    records++;
    const at = { file: part, line };
    if (record.hash !== hashOf(record))
      problems.push({ ...at, kind: 'changed', message: `Record ${record.sequence} was changed.` });
    if (seen.has(record.sequence) || record.sequence < expected)
      problems.push({
        ...at,
        kind: 'reordered',
        message: `Record ${record.sequence} stands in a wrong place.`,
      });
    else if (record.sequence > expected)
      problems.push({
        ...at,
        kind: 'removed',
        message: `Records ${expected} to ${record.sequence - 1} are missing before this one.`,
      });
    else if (record.previous !== previous)
      problems.push({
        ...at,
        kind: 'changed',
        message: `Record ${record.sequence} does not follow from the one before.`,
      });
    seen.add(record.sequence);
    hashes.set(record.sequence, record.hash);
    expected = Math.max(expected, record.sequence + 1);
    previous = record.hash;
  }
  checkHead(file, expected - 1, hashes, problems);
  return { ok: problems.length === 0, records, lastHash: previous, problems };
}

/** Every record of a file and its rotated parts, oldest first. */
export function* readAudit(file: string): Generator<AuditRecord> {
  for (const { record } of readLines(file, [])) yield record;
}

function checkHead(
  file: string,
  last: number,
  hashes: ReadonlyMap<number, string>,
  problems: AuditProblem[],
): void {
  const at = { file, line: 0 };
  let head: z.infer<typeof headSchema>;
  try {
    head = headSchema.parse(JSON.parse(readFileSync(`${file}.head`, 'utf8')));
  } catch {
    if (last > 1)
      problems.push({
        ...at,
        kind: 'truncated',
        message: 'The head of the record is missing or broken, so its end cannot be checked.',
      });
    return;
  }
  if (head.sequence > last)
    problems.push({
      ...at,
      kind: 'truncated',
      message: `The record ends at ${last}, and ${head.sequence} were written.`,
    });
  else if (head.sequence < last - 1)
    problems.push({
      ...at,
      kind: 'changed',
      message: `The head names record ${head.sequence}, and there are ${last}.`,
    });
  else if (head.sequence > 0 && hashes.get(head.sequence) !== head.hash)
    problems.push({
      ...at,
      kind: 'changed',
      message: `Record ${head.sequence} is not the one that the head names.`,
    });
}

function* readLines(
  file: string,
  problems: AuditProblem[],
): Generator<{ part: string; line: number; record: AuditRecord }> {
  for (const part of partsOf(file)) {
    const lines = readFileSync(part, 'utf8').split('\n');
    for (const [index, text] of lines.entries()) {
      if (text === '') continue;
      const record = parseRecord(text);
      if (record === undefined)
        problems.push({ file: part, line: index + 1, kind: 'malformed', message: 'The line is no record.' });
      else yield { part, line: index + 1, record };
    }
  }
}

function partsOf(file: string): string[] {
  const rotated: string[] = [];
  for (let part = 1; existsSync(`${file}.${part}`); part++) rotated.push(`${file}.${part}`);
  const parts = existsSync(file) ? [...rotated, file] : rotated;
  if (parts.length === 0 && !existsSync(`${file}.head`))
    throw new WorkcellError('not-found', `There is no audit record ${file}.`, { details: { file } });
  return parts;
}

function parseRecord(text: string): AuditRecord | undefined {
  try {
    return auditRecordSchema.parse(JSON.parse(text));
  } catch {
    return undefined;
  }
}
