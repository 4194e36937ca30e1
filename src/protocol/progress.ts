import { z } from 'zod';

/**
 * A piece of output as it is produced. `sequence` counts the raw bytes of the stream before this piece, so a
 * reader that lost its connection asks for the rest by the number where it stopped.
 */
const outputDeltaSchema = z.object({
  type: z.literal('output-delta'),
  stream: z.enum(['terminal', 'stdout', 'stderr']),
  text: z.string(),
  sequence: z.int().nonnegative(),
});

const fileChangeSchema = z.object({
  type: z.literal('file-change'),
  change: z.enum(['created', 'modified', 'removed']),
  path: z.string(),
});

/** Tells that what the action asked to be set up is in place, so that what happens next is not missed. */
const readySchema = z.object({ type: z.literal('ready') });

/** How far a tool is, in its own words. */
const toolProgressSchema = z.object({ type: z.literal('tool-progress'), value: z.unknown() });

const toolLogSchema = z.object({ type: z.literal('tool-log'), message: z.string() });

/** Everything that may arrive between an action and its observation. */
export const progressSchema = z.discriminatedUnion('type', [
  outputDeltaSchema,
  fileChangeSchema,
  readySchema,
  toolProgressSchema,
  toolLogSchema,
]);

export type OutputDelta = z.infer<typeof outputDeltaSchema>;
export type FileChange = z.infer<typeof fileChangeSchema>;
export type Progress = z.infer<typeof progressSchema>;
