import { z } from 'zod';
import { errorSchema } from './errors.js';
import { statusSchema } from './status.js';

export const eventSources = ['agent', 'user', 'environment'] as const;

const base = {
  /** Position in the stream of its runtime, from 1, without gaps. */
  id: z.int().positive(),
  /** Milliseconds since the epoch. */
  at: z.number(),
  runtimeId: z.string(),
  source: z.enum(eventSources),
};

/** One thing that happened in a runtime. `cause` is the id of the action event that led to it. */
export const eventSchema = z.discriminatedUnion('kind', [
  z.object({ ...base, kind: z.literal('action'), action: z.looseObject({ action: z.string() }) }),
  z.object({
    ...base,
    kind: z.literal('observation'),
    cause: z.int(),
    observation: z.looseObject({ observation: z.string() }),
  }),
  z.object({ ...base, kind: z.literal('error'), cause: z.int(), error: errorSchema }),
  z.object({ ...base, kind: z.literal('status'), status: statusSchema }),
]);

export type WorkcellEvent = z.infer<typeof eventSchema>;
export type EventSource = (typeof eventSources)[number];
