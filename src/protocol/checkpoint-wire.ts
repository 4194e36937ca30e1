/** What the service and its clients say to each other about checkpoints of cells. */
import * as z from 'zod';
import { checkpointIdSchema, labelsSchema, lifetimeSchema, serviceCellSchema } from './service-wire.js';

export const serviceCheckpointSchema = z.object({
  id: z.string(),
  tenant: z.string(),
  /** Whose files they were. */
  cell: z.string(),
  label: z.string().optional(),
  /** The checkpoint before it in its line. */
  parent: z.string().optional(),
  createdAt: z.iso.datetime(),
  files: z.int(),
  bytes: z.int(),
});

/** The files of a cell at one moment, which outlive the cell. */
export type ServiceCheckpoint = z.output<typeof serviceCheckpointSchema>;

export const checkpointCellSchema = z.strictObject({ label: z.string().min(1).max(200).optional() });

/** How to call a checkpoint that a service makes. */
export type CheckpointCell = z.input<typeof checkpointCellSchema>;

export const listCheckpointsQuery = z.strictObject({
  /** The id of a cell, which may have ended. */
  cell: z.string().max(64).optional(),
  limit: z.coerce.number().int().min(1).max(1000).default(100),
  /** `next` of the page before. */
  cursor: z
    .string()
    .regex(/^\d{1,16}-[\da-z]{1,64}$/, 'must be `next` of a page')
    .optional(),
});

export const checkpointPageSchema = z.object({
  checkpoints: z.array(serviceCheckpointSchema),
  next: z.string().optional(),
});

/** Some of the checkpoints, the oldest first, and the cursor of the rest. */
export type CheckpointPage = z.output<typeof checkpointPageSchema>;

export const rewindCellSchema = z.strictObject({
  checkpoint: checkpointIdSchema,
  /** Whether to keep what is there now as a checkpoint. */
  recovery: z.boolean().default(true),
});

/** Which checkpoint a cell goes back to. */
export type RewindCell = z.input<typeof rewindCellSchema>;

const changeSchema = z.object({
  /** Below the workspace. */
  path: z.string(),
  change: z.enum(['added', 'changed', 'removed']),
  kind: z.enum(['file', 'directory', 'link', 'special']),
  /** Of a file, before and after. */
  beforeBytes: z.number().optional(),
  afterBytes: z.number().optional(),
  /** Permission bits, where they differ. */
  mode: z.object({ before: z.int(), after: z.int() }).optional(),
  /** A unified diff, for text that is not too large. */
  patch: z.string().optional(),
});

export const cellDiffSchema = z.object({
  changes: z.array(changeSchema),
  /** How many more there are than this answer holds. */
  more: z.int(),
});

/** What differs between two states of a cell. */
export type CellDiff = z.output<typeof cellDiffSchema>;

export const rewoundCellSchema = cellDiffSchema.extend({
  /** Keeps what was there before; go back to it to undo this. */
  recovery: serviceCheckpointSchema.optional(),
});

/** What going back changed. */
export type RewoundCell = z.output<typeof rewoundCellSchema>;

export const diffQuery = z.strictObject({
  before: checkpointIdSchema,
  /** Default: the cell as it is now. */
  after: checkpointIdSchema.optional(),
});

export const forkCellSchema = z.strictObject({
  count: z.int().min(1).max(100).default(1),
  /** Default: the files as they are now, which become a checkpoint. */
  checkpoint: checkpointIdSchema.optional(),
  labels: labelsSchema.default({}),
  /** Ends each of them this long after its creation. Default and most: as the template says. */
  ttlMs: lifetimeSchema.optional(),
});

/** How many cells to start with the files of another one. */
export type ForkCell = z.input<typeof forkCellSchema>;

export const forkedCellsSchema = z.object({
  checkpoint: serviceCheckpointSchema,
  cells: z.array(serviceCellSchema),
});

/** The cells of a fork, and the checkpoint that they began with. */
export type ForkedCells = z.output<typeof forkedCellsSchema>;
