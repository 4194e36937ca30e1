import { z } from 'zod';

export const runtimeStatuses = [
  'STARTING_RUNTIME',
  'BUILDING_RUNTIME',
  'RUNTIME_STARTED',
  'READY',
  'SETTING_UP_WORKSPACE',
  'SETTING_UP_GIT_HOOKS',
  'ERROR',
  'ERROR_RUNTIME_DISCONNECTED',
  'STOPPED',
  'DETACHED',
  'EVENTS_NOT_STORED',
] as const;

/** A change in the life of a runtime, as given to `onStatus` and recorded in the event stream. */
export const statusSchema = z.object({
  status: z.enum(runtimeStatuses),
  level: z.enum(['info', 'error']),
  message: z.string(),
});

export type RuntimeStatus = (typeof runtimeStatuses)[number];
export type StatusUpdate = z.infer<typeof statusSchema>;
