/** What clients send to create and change sandboxes. Ignores unknown fields, as E2B does. */
import * as z from 'zod';

const seconds = z.int().min(0).max(31_622_400);

const networkSchema = z.object({
  allowOut: z.array(z.string().max(253)).max(100).optional(),
  denyOut: z.array(z.string().max(253)).max(100).optional(),
  allowPublicTraffic: z.boolean().optional(),
  maskRequestHost: z.string().max(253).optional(),
  rules: z.record(z.string(), z.unknown()).optional(),
  egressProxy: z.unknown().optional(),
});

export type NetworkRequest = z.output<typeof networkSchema>;

export const newSandboxSchema = z.object({
  templateID: z.string().min(1).max(200),
  timeout: seconds.optional(),
  metadata: z
    .record(z.string().max(256), z.string().max(4096))
    .refine((all) => Object.keys(all).length <= 64, 'at most 64 entries')
    .nullish(),
  envVars: z.record(z.string(), z.string()).nullish(),
  secure: z.boolean().nullish(),
  allow_internet_access: z.boolean().nullish(),
  network: networkSchema.nullish(),
  autoPause: z.boolean().nullish(),
  autoPauseMemory: z.boolean().nullish(),
  autoResume: z.object({ enabled: z.boolean() }).nullish(),
  mcp: z.unknown().optional(),
  volumeMounts: z.array(z.unknown()).nullish(),
  iam: z.unknown().optional(),
});

export type NewSandbox = z.output<typeof newSandboxSchema>;

export const connectSchema = z.object({ timeout: seconds.optional(), memory: z.boolean().nullish() });
export const timeoutSchema = z.object({ timeout: seconds });
export const refreshSchema = z.object({ duration: seconds.optional() });
export const pauseSchema = z.object({ memory: z.boolean().nullish() });
export const networkUpdateSchema = networkSchema.extend({ allow_internet_access: z.boolean().nullish() });

const commaList = z.string().transform((text) => text.split(',').filter((word) => word !== ''));

export const listSchema = z.object({
  metadata: z.string().optional(),
  state: commaList.pipe(z.array(z.enum(['running', 'paused']))).optional(),
  startedAfter: z.iso.datetime({ offset: true }).optional(),
  template: z.string().optional(),
  order: z.enum(['asc', 'desc']).default('desc'),
  limit: z.coerce.number().int().min(1).max(100).default(100),
  nextToken: z.string().max(200).optional(),
});

export const snapshotSchema = z.object({
  name: z
    .string()
    .max(128)
    .regex(/^[a-z0-9][\w.-]*(:[\w.-]+)?$/i, 'must be letters, digits, dots and hyphens, and may have a :tag')
    .optional(),
});
export const snapshotListSchema = z.object({
  sandboxID: z.string().max(200).optional(),
  name: z.string().max(200).optional(),
  limit: z.coerce.number().int().min(1).max(100).default(100),
  nextToken: z.string().max(200).optional(),
});
export const forkSchema = z.object({
  count: z.int().min(1).max(100).default(1),
  timeout: seconds.default(15),
});

export const metricsSchema = z.object({ sandbox_ids: commaList });
