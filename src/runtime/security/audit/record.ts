/** One line of the audit record, and the chain that holds the lines together. */
import { createHash } from 'node:crypto';
import { z } from 'zod';
import { canonical } from '../policy/ask-confirmation.js';

/** What happened: who asked for what, the decision, and the outcome. */
const auditEntrySchema = z.object({
  /** Who asked, such as the id of a runtime or an agent. */
  who: z.string(),
  action: z.looseObject({ action: z.string() }),
  outcome: z.enum(['allow', 'deny', 'pending']),
  by: z.string(),
  /** Who decided, where it was a person. */
  decidedBy: z.string().optional(),
  risk: z.string().optional(),
  reasons: z.array(z.string()).optional(),
  verdicts: z.array(z.looseObject({ analyzer: z.string(), risk: z.string() })).optional(),
  policyVersion: z.string().optional(),
  /** SHA-256 of the observation; absent when the action did not run. */
  outputDigest: z.string().optional(),
  /** Code of the error it ended with. */
  error: z.string().optional(),
});

/** One action with its decision and outcome, before it joins the chain. */
export type AuditEntry = z.infer<typeof auditEntrySchema>;

export const auditRecordSchema = auditEntrySchema.extend({
  sequence: z.int().positive(),
  /** Milliseconds since the epoch. */
  time: z.number(),
  previous: z.string(),
  hash: z.string(),
});

/** An entry with its number, its time and the hash of the previous one. */
export type AuditRecord = z.infer<typeof auditRecordSchema>;

export const firstPrevious = '0'.repeat(64);

/** The record in its final form: its hash binds it to the previous one. */
export function seal(entry: AuditEntry, sequence: number, previous: string, time = Date.now()): AuditRecord {
  // Go through JSON, so that the hash covers what a reader of the line gets.
  const body = JSON.parse(JSON.stringify({ ...entry, sequence, time, previous })) as Omit<
    AuditRecord,
    'hash'
  >;
  return { ...body, hash: hashOf(body) };
}

export function hashOf({ hash: _, ...body }: Omit<AuditRecord, 'hash'> & { hash?: string }): string {
  return createHash('sha256').update(canonical(body)).digest('hex');
}

export function digestOf(value: unknown): string {
  return createHash('sha256')
    .update(canonical(value) ?? '')
    .digest('hex');
}
