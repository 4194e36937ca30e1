/** What passes between the gateway of a held cell and the process that works in the cell. Both sides check what they get. */
import { z } from 'zod';
import { errorSchema } from '../../../protocol/error-body.js';
import { networkRecordSchema, networkRulesSchema } from '../../../protocol/network/network-schema.js';
import { secretSchema } from './keeper-messages.js';

const statsSchema = z.object({
  connections: z.number(),
  refused: z.number(),
  sentBytes: z.number(),
  receivedBytes: z.number(),
});

/** The first message has the rules, and each that tells of a change. */
export const fromGatewaySchema = z.union([
  z.object({
    record: networkRecordSchema.optional(),
    rules: networkRulesSchema.optional(),
    stats: statsSchema,
  }),
  z.object({ question: z.int(), host: z.string(), port: z.int() }),
  /** A request needs its value. */
  z.object({ wanted: z.int(), secret: secretSchema }),
  /** Nobody waits for the answer any longer. */
  z.object({ withdrawn: z.int() }),
  z.object({ changed: z.int(), error: errorSchema.optional(), instead: networkRulesSchema.optional() }),
]);

export const toGatewaySchema = z.union([
  z.strictObject({ answer: z.int(), word: z.string().max(20).optional() }),
  /** Of a secret; without one the request is refused. */
  z.strictObject({ wanted: z.int(), value: z.string().optional() }),
  /** Counts only where the rules are still those of `before`. */
  z.strictObject({ change: z.int(), before: networkRulesSchema, rules: networkRulesSchema }),
]);

export type FromGateway = z.input<typeof fromGatewaySchema>;
export type ToGateway = z.input<typeof toGatewaySchema>;
