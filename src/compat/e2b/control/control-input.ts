/** What a request of the control API brings, held to its schema. */
import type { FastifyRequest } from 'fastify';
import type * as z from 'zod';
import { E2bError } from '../e2b-errors.js';

export function body<Schema extends z.ZodType>(schema: Schema, request: FastifyRequest): z.output<Schema> {
  return check(schema, request.body ?? {});
}

export function query<Schema extends z.ZodType>(schema: Schema, request: FastifyRequest): z.output<Schema> {
  return check(schema, request.query);
}

function check<Schema extends z.ZodType>(schema: Schema, value: unknown): z.output<Schema> {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const problems = result.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`);
  throw new E2bError(400, problems.join('; '));
}
