import * as z from 'zod';
import { type ErrorBody, errorCodes } from './errors.js';

/** An error as it comes over a wire. An unknown code reads as `internal`. */
export const errorSchema = z.object({
  code: z.enum(errorCodes).catch('internal'),
  message: z.string(),
  details: z.record(z.string(), z.unknown()).optional(),
}) satisfies z.ZodType<ErrorBody>;
