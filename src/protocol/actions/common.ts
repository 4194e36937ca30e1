import * as z from 'zod';

/** A path inside the cell; relative ones start at the workspace. */
export const pathSchema = z
  .string()
  .min(1)
  .max(4096)
  .refine((path) => !path.includes('\0'), 'must not contain a NUL character');

export const timeoutSchema = z.int().positive().max(2_147_483_647);

const environmentName = z
  .string()
  .regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'must be letters, digits and underscores, not starting with a digit');

const environmentValue = z
  .string()
  .refine((value) => !value.includes('\0'), 'must not contain a NUL character');

export const environmentNameSchema = environmentName;
export const environmentSchema = z.record(environmentName, environmentValue);

/** How a JSON string carries bytes. */
export const encodingSchema = z.enum(['utf8', 'base64']);

/** Why nobody waits for a command or process any longer. */
export const endedBySchema = z.enum([
  'exit',
  'timeout',
  'no-change',
  'cancelled',
  'killed',
  'output-limit',
  'oom',
  'lost',
]);

/** Why a command, process or code cell ended, or handed back. */
export type EndedBy = z.infer<typeof endedBySchema>;

/** How bytes become text in an action: `utf8` or `base64`. */
export type Encoding = z.infer<typeof encodingSchema>;

export const tokenHashSchema = z.string().regex(/^[0-9a-f]{64}$/, 'must be 64 hexadecimal digits');
