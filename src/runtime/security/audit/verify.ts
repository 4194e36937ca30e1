/** Checks an audit record: finds changed, removed, moved or truncated lines. */
import { existsSync, readFileSync } from 'node:fs';
import { z } from 'zod';
import { WorkcellError } from '../../../protocol/index.js';
import type { EventStore } from '../../events/event-store.js';
import { openEventStore } from '../../events/open.js';
import { type AuditRecord, auditRecordSchema, firstPrevious, hashOf } from './record.js';

export const headSchema = z.object({
  sequence: z.int().nonnegative(),
  hash: z.string(),
  part: z.int().nonnegative(),
});

/** A record that does not fit the chain. */
export interface AuditProblem {
  readonly kind: 'changed' | 'removed' | 'reordered' | 'truncated' | 'malformed';
  readonly file: string;
  readonly line: number;
  readonly message: string;
}

/** What a check of the audit record found. */
export interface AuditVerification {
  readonly ok: boolean;
  readonly records: number;
  readonly lastHash: string;
  readonly problems: readonly AuditProblem[];
}

/** Checks the record with its rotated parts. A crash can leave the head at most one record behind. */
export function verifyAudit(file: string): AuditVerification {
  const chain = new Chain();
  for (const { part, line, record } of readLines(file, chain.problems)) chain.next(part, line, record);
  let head: z.infer<typeof headSchema> | undefined;
  try {
    head = headSchema.parse(JSON.parse(readFileSync(`${file}.head`, 'utf8')));
  } catch {
    // Reported below, where it matters.
  }
  return chain.end(file, head);
}

/** Checks the record in a store such as `sqlite:/var/lib/workcell/events.db`. */
export async function verifyAuditStore(name: string): Promise<AuditVerification> {
  const chain = new Chain();
  const store = await openEventStore(name);
  try {
    for await (const { line, record } of storedLines(store)) {
      if (record === undefined)
        chain.problems.push({ file: name, line, kind: 'malformed', message: 'The line is no record.' });
      else chain.next(name, line, record);
    }
    return chain.end(name, await store.ledger.head());
  } finally {
    await store.close();
  }
}

/** Every record in a store, oldest first. */
export async function* readAuditStore(name: string): AsyncGenerator<AuditRecord> {
  const store = await openEventStore(name);
  try {
    for await (const { record } of storedLines(store)) if (record !== undefined) yield record;
  } finally {
    await store.close();
  }
}

const pageLines = 500;

async function* storedLines(
  store: EventStore,
): AsyncGenerator<{ line: number; record: AuditRecord | undefined }> {
  for (let after = 0; ; ) {
    const page = await store.ledger.read(after, pageLines);
    for (const { sequence, line } of page) {
      const record = parseRecord(line);
      // A line under another line's number is in the wrong place.
      yield { line: sequence, record };
    }
    after = page.at(-1)?.sequence ?? after;
    if (page.length < pageLines) return;
  }
}

/** Follows the records one by one and notes where the chain breaks. */
class Chain {
  readonly problems: AuditProblem[] = [];
  readonly #hashes = new Map<number, string>();
  #expected = 1;
  #previous = firstPrevious;
  #records = 0;

  next(file: string, line: number, record: AuditRecord): void {
    this.#records++;
    const { sequence } = record;
    const add = (kind: AuditProblem['kind'], message: string) =>
      this.problems.push({ file, line, kind, message });
    if (record.hash !== hashOf(record)) add('changed', `Record ${sequence} was changed.`);
    if (this.#hashes.has(sequence) || sequence < this.#expected)
      add('reordered', `Record ${sequence} stands in a wrong place.`);
    else if (sequence > this.#expected)
      add('removed', `Records ${this.#expected} to ${sequence - 1} are missing before this one.`);
    else if (record.previous !== this.#previous)
      add('changed', `Record ${sequence} does not follow from the one before.`);
    this.#hashes.set(sequence, record.hash);
    this.#expected = Math.max(this.#expected, sequence + 1);
    this.#previous = record.hash;
  }

  end(file: string, head: { sequence: number; hash: string } | undefined): AuditVerification {
    checkHead(file, head, this.#expected - 1, this.#hashes, this.problems);
    const { problems } = this;
    return { ok: problems.length === 0, records: this.#records, lastHash: this.#previous, problems };
  }
}

/** Every record of a file and its rotated parts, oldest first. */
export function* readAudit(file: string): Generator<AuditRecord> {
  for (const { record } of readLines(file, [])) yield record;
}

function checkHead(
  file: string,
  head: { sequence: number; hash: string } | undefined,
  last: number,
  hashes: ReadonlyMap<number, string>,
  problems: AuditProblem[],
): void {
  const at = { file, line: 0 };
  if (head === undefined) {
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
