import * as z from 'zod';

/** Every state of a runtime. */
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

/** The state of a runtime. */
export type RuntimeStatus = (typeof runtimeStatuses)[number];

/** A change of the state of a runtime, with a message. */
export type StatusUpdate = z.infer<typeof statusSchema>;
