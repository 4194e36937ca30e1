/** What a tool host can say. It runs in the cell, so check all of it. */
import * as z from 'zod';
import { errorSchema } from '../../../protocol/index.js';
import { mostTools, toolNameSchema } from './tool-limits.js';

/** A tool as the module itself describes it. */
export const describedToolSchema = z.object({
  name: toolNameSchema,
  description: z.string().max(65_536),
  parameters: z.record(z.string(), z.unknown()),
});

const id = z.int().nonnegative();

const printed = {
  stdout: z.string().default(''),
  stderr: z.string().default(''),
  truncated: z.boolean().default(false),
};

export const hostMessageSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('hello'), token: z.string() }),
  z.object({
    type: z.literal('installed'),
    id,
    tools: z.array(z.string()),
    described: z.array(describedToolSchema).max(mostTools).default([]),
  }),
  z.object({
    type: z.literal('refused'),
    id,
    code: z.enum(['invalid-tool', 'tool-failed']),
    message: z.string(),
  }),
  z.object({ type: z.literal('result'), id, result: z.unknown(), ...printed }),
  z.object({ type: z.literal('error'), id, error: errorSchema, ...printed }),
  z.object({ type: z.literal('output'), id, stream: z.enum(['stdout', 'stderr']), text: z.string() }),
  z.object({ type: z.literal('progress'), id, value: z.unknown() }),
  z.object({ type: z.literal('log'), id, message: z.string() }),
  z.object({ type: z.literal('execute'), id, request: id, action: z.looseObject({ action: z.string() }) }),
  z.object({ type: z.literal('abandon'), request: id }),
]);

export type HostMessage = z.infer<typeof hostMessageSchema>;
