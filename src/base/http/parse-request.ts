import type { z } from 'zod';
import { describeIssues, WorkcellError } from '../../protocol/index.js';

/** Checks a part of a request that is not an action. */
export function parse<Schema extends z.ZodType>(schema: Schema, value: unknown): z.output<Schema> {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  throw new WorkcellError('invalid-action', `The request is not valid: ${describeIssues(result.error)}.`);
}
