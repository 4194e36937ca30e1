import * as z from 'zod';

/**
 * A piece of output as it comes. `sequence` counts the raw bytes of the stream before this piece, so a reader that lost
 * its connection asks for the rest by the number where it stopped.
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

/** Says that the action's setup is complete, so that you miss nothing that happens next. */
const readySchema = z.object({ type: z.literal('ready') });

/** How far a tool is, in its own words. */
const toolProgressSchema = z.object({ type: z.literal('tool-progress'), value: z.unknown() });

const toolLogSchema = z.object({ type: z.literal('tool-log'), message: z.string() });

/**
 * What code shows besides its output, as it does, with media by their types. The observation has all of them in
 * order.
 */
const displaySchema = z.object({
  type: z.literal('display'),
  /** A result is the value of the code cell. */
  kind: z.enum(['result', 'display']),
  data: z.record(z.string(), z.unknown()),
  /** Bytes of omitted media, by media type. */
  omitted: z.record(z.string(), z.int()).optional(),
  /** Names it, so that a later one can take its place. */
  displayId: z.string().max(512).optional(),
  /** Replaces the display with the same name. */
  update: z.boolean(),
});

/** Everything that may arrive between an action and its observation. */
export const progressSchema = z.discriminatedUnion('type', [
  outputDeltaSchema,
  fileChangeSchema,
  readySchema,
  toolProgressSchema,
  toolLogSchema,
  displaySchema,
]);

/** A piece of output, with its position. */
export type OutputDelta = z.infer<typeof outputDeltaSchema>;

/** A change that a watch reports. */
export type FileChange = z.infer<typeof fileChangeSchema>;

/** Something that a code cell shows while it runs, such as a plot. */
export type Display = z.infer<typeof displaySchema>;

/** What an action reports while it runs. */
export type Progress = z.infer<typeof progressSchema>;
