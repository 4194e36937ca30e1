/** What the service and its clients say to each other: cells, keys and pages of them. */
import * as z from 'zod';
import { environmentSchema, pathSchema } from './actions/common.js';
import { stats } from './actions/environment.js';
import { isolationTiers } from './isolation.js';

/** Of a cell, a template or a tenant: it stands in addresses and in names of processes. */
export const serviceNameSchema = z
  .string()
  .regex(/^[a-z0-9](?:[a-z0-9_-]{0,38}[a-z0-9])?$/, 'must be 1 to 40 letters in lower case, digits, _ or -');

const labelName = z.string().regex(/^[\w./-]{1,63}$/, 'must be 1 to 63 letters, digits or _ . / -');

export const labelsSchema = z
  .record(labelName, z.string().max(253))
  .refine((labels) => Object.keys(labels).length <= 32, 'must be at most 32 labels');

export const lifetimeSchema = z
  .int()
  .min(1000)
  .max(366 * 86_400_000);

/** What the service does with a cell that was idle for `idleMs`. */
export const onIdleChoices = ['pause', 'end'] as const;

export const checkpointIdSchema = z.string().min(1).max(64);

/** What a cell finds in its workspace at its first action. */
const firstFiles = {
  /** The files of a checkpoint of your tenant, before the others. */
  checkpoint: checkpointIdSchema.optional(),
  /** Unpacked below `path`. A larger one goes to `PUT /v1/cells/{cell}/v1/files` once the cell is there. */
  archive: z
    .strictObject({
      format: z.enum(['tar', 'zip']),
      /** In base64. */
      data: z.base64().max(8 * 1024 * 1024, 'must be at most 8 MiB of base64'),
      path: pathSchema.default('.'),
    })
    .optional(),
  /** Cloned in the cell, over its network. */
  repository: z
    .strictObject({
      url: z.string().min(1).max(2048),
      /** A branch or tag. */
      branch: z.string().min(1).max(255).optional(),
      depth: z.int().min(1).optional(),
      /** Default: the last part of the address. */
      into: pathSchema.optional(),
    })
    .optional(),
};

export type FirstFiles = z.output<z.ZodObject<typeof firstFiles>>;

/** What clients choose of a cell. Everything that widens is the template's. */
export const createCellSchema = z.strictObject({
  /** Named start options of the service. */
  template: serviceNameSchema.default('default'),
  /** A second request with this name gets the same cell. */
  name: serviceNameSchema.refine((name) => name !== 'watch', 'must not be watch').optional(),
  labels: labelsSchema.default({}),
  /** Variables that shells and processes start with. The service does not keep them. */
  env: environmentSchema.default({}),
  ...firstFiles,
  /** Ends the cell this long after its creation. Default and most: as the template says. */
  ttlMs: lifetimeSchema.optional(),
  idleMs: lifetimeSchema.optional(),
  onIdle: z.enum(onIdleChoices).optional(),
});

/** What you ask a service for: a cell. */
export type CreateCell = z.input<typeof createCellSchema>;

/** What you can change in a running cell. `null` removes a limit. */
export const changeCellSchema = z.strictObject({
  labels: labelsSchema.optional(),
  /** From now on. */
  ttlMs: lifetimeSchema.nullable().optional(),
  idleMs: lifetimeSchema.nullable().optional(),
  onIdle: z.enum(onIdleChoices).optional(),
});

/** What you can change of a cell. */
export type ChangeCell = z.input<typeof changeCellSchema>;

export const serviceTemplateSchema = z.object({
  name: z.string(),
  backend: z.string(),
  ttlMs: z.int().optional(),
  idleMs: z.int().optional(),
  onIdle: z.enum(onIdleChoices),
});

/** Named start options of a service, as it tells of them. */
export type ServiceTemplateInfo = z.output<typeof serviceTemplateSchema>;

export const cellStates = ['starting', 'running', 'paused', 'lost'] as const;

const moment = z.iso.datetime();

export const serviceCellSchema = z.object({
  id: z.string(),
  tenant: z.string(),
  name: z.string().optional(),
  template: z.string(),
  /** `lost`: it died, or the service cannot find it any more. You can only delete it. */
  state: z.enum(cellStates),
  labels: labelsSchema,
  createdAt: moment,
  usedAt: moment,
  expiresAt: moment.optional(),
  idleMs: z.int().optional(),
  onIdle: z.enum(onIdleChoices),
  backend: z.string().optional(),
  /** As seen from inside. */
  workspace: z.string().optional(),
  isolation: z.enum(isolationTiers).optional(),
});

/** A cell, as its service tells of it. */
export type ServiceCell = z.output<typeof serviceCellSchema>;

/** What a webhook brings: a cell that changed its state. */
export const cellNoticeSchema = z.object({
  /** The same in every attempt to deliver it. */
  id: z.string(),
  at: moment,
  /** `gone`: it ended, and nothing of it is left. */
  state: z.enum([...cellStates, 'gone']),
  /** Absent for a new cell. */
  before: z.enum(cellStates).optional(),
  cell: serviceCellSchema,
});

/** A change of the state of a cell, as a webhook brings it. */
export type CellNotice = z.output<typeof cellNoticeSchema>;

/** The longest time that one request waits for a state. */
export const longestWaitMs = 240_000;

export const getCellQuery = z.strictObject({
  /** Answers once the cell is in this state. */
  wait: z.enum(cellStates).optional(),
  /** Many clients wait no longer than five minutes for the head of an answer. */
  timeoutMs: z.coerce.number().int().min(1).max(longestWaitMs).default(30_000),
});

/** Which cells a watch is about. */
export const watchCellsQuery = z.strictObject({
  /** `name=value`; with several, all must hold. */
  label: z.union([z.string(), z.array(z.string()).max(32)]).optional(),
  /** Operators only; `*` stands for all. Default: their own tenant. */
  tenant: z.union([z.literal('*'), serviceNameSchema]).optional(),
});

/** A line of a watch. */
export const cellNewsSchema = z.discriminatedUnion('type', [
  /** One that was there at the beginning, is new, or has changed. */
  z.object({ type: z.literal('cell'), cell: serviceCellSchema }),
  /** It ended, or no longer fits. */
  z.object({ type: z.literal('gone'), id: z.string() }),
  /** You have all that were there at the beginning. */
  z.object({ type: z.literal('all') }),
]);

/** What a watch of cells tells: a cell, that one is gone, or that you have all that were there at the beginning. */
export type CellNews = z.output<typeof cellNewsSchema>;

export const listCellsQuery = watchCellsQuery.extend({
  state: z.enum(cellStates).optional(),
  limit: z.coerce.number().int().min(1).max(1000).default(100),
  /** `next` of the page before. */
  cursor: z.string().max(100).optional(),
});

export const cellPageSchema = z.object({ cells: z.array(serviceCellSchema), next: z.string().optional() });

/** Some of the cells, and the cursor of the rest. */
export type CellPage = z.output<typeof cellPageSchema>;

/** From more to less. */
export const keyRoles = ['operator', 'admin', 'user', 'reader'] as const;

export type KeyRole = (typeof keyRoles)[number];

/** A key may do no more than the key that creates it. */
export const createKeySchema = z.strictObject({
  /** Default: the tenant of the key that creates it. */
  tenant: serviceNameSchema.optional(),
  /** `admin` makes keys of its tenant, `user` makes and uses cells, `reader` looks at them. */
  role: z.enum(['admin', 'user', 'reader']).default('user'),
  /** For this cell alone. */
  cell: z.string().max(64).optional(),
  expiresAt: moment.optional(),
  note: z.string().max(200).optional(),
});

/** What you ask a service for: a key. */
export type CreateKey = z.input<typeof createKeySchema>;

const serviceKeySchema = z.object({
  id: z.string(),
  tenant: z.string(),
  role: z.enum(keyRoles),
  cell: z.string().optional(),
  createdAt: moment,
  expiresAt: moment.optional(),
  note: z.string().optional(),
});

/** A key, without what makes it one. */
export type ServiceKey = z.output<typeof serviceKeySchema>;

export const listKeysQuery = z.strictObject({
  limit: z.coerce.number().int().min(1).max(1000).default(100),
  /** `next` of the page before. */
  cursor: z.string().max(100).optional(),
});

export const keyPageSchema = z.object({ keys: z.array(serviceKeySchema), next: z.string().optional() });

/** Some of the keys, and the cursor of the rest. */
export type KeyPage = z.output<typeof keyPageSchema>;

/** The service shows the key itself once. */
export const newKeySchema = serviceKeySchema.extend({ key: z.string() });

/** A key together with its secret, which the service shows once. */
export type NewKey = z.output<typeof newKeySchema>;

/** A link to a port of a cell. */
export const createPreviewSchema = z.strictObject({
  port: z.int().min(1).max(65_535),
  /** How long the link holds; default an hour, at most a week. */
  ttlMs: z
    .int()
    .min(1000)
    .max(7 * 86_400_000)
    .default(3_600_000),
});

/** What you ask a service for: a link to a port of a cell. */
export type CreatePreview = z.input<typeof createPreviewSchema>;

export const previewSchema = z.object({ url: z.string(), port: z.int(), expiresAt: moment });

/** A link: whoever has it may use that port, until it expires. */
export type Preview = z.output<typeof previewSchema>;

const day = z.iso.date();

export const usageQuery = z.strictObject({
  /** Days in UTC, including both. Default: the last 31. */
  from: day.optional(),
  to: day.optional(),
  /** Operators only. Default: all. */
  tenant: serviceNameSchema.optional(),
  format: z.enum(['json', 'csv']).default('json'),
});

export const usageSchema = z.object({
  tenant: z.string(),
  day,
  /** Time that cells ran; paused ones do not. */
  cellSeconds: z.number(),
  /** Cells that were made. */
  cells: z.int(),
});

/** What a tenant used on one day. */
export type ServiceUsage = z.output<typeof usageSchema>;

/** What a cell uses, as far as a client needs it. */
export const cellStatsSchema = () => z.object({ cell: stats.output });

export const serviceStatusSchema = z.object({
  version: z.string(),
  startedAt: moment,
  cells: z.record(z.enum(cellStates), z.int()),
  tenants: z.int(),
  /** Cells that wait for their start. */
  waiting: z.int(),
  /** Cells that were started ahead. */
  spare: z.int(),
  memoryBytes: z.int(),
  templates: z.array(z.string()),
});

/** How a service does. */
export type ServiceStatus = z.output<typeof serviceStatusSchema>;
