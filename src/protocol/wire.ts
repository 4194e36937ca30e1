/** What both ends of the HTTP wire agree on, besides actions and observations. */
import * as z from 'zod';
import { isolationSchema } from './isolation.js';

/** Names one start of a server. A client that knows it gets no answer from another one in its place. */
export const instanceHeader = 'workcell-instance';

/** Names a request: repeated with the same key, it does not run again. */
export const keyHeader = 'idempotency-key';

/** Names a client of a server that it shares with others, so that it can end what it started, and only that. */
export const clientHeader = 'workcell-client';

/** Progress and outcome as lines of JSON. */
export const linesType = 'application/x-ndjson';

/**
 * The same lines, but the text of output follows its line unescaped: `textBytes` in the line says how long it is.
 * Writing and reading JSON is most of the cost of a long output.
 */
export const framesType = 'application/vnd.workcell.frames';

/** Bytes of the largest observation that either end takes. */
export const maxObservationBytes = 128 * 1024 * 1024;

/** A quiet stream carries an empty line this often, so that the reader can tell it from a dead one. */
export const heartbeatMs = 5000;

/** How much one connection of a multiplexed stream may have in flight before its reader takes it. */
export const tunnelWindowBytes = 4 * 1024 * 1024;

export const keySchema = z.string().regex(/^[\w.:-]{1,128}$/, 'must be 1 to 128 letters, digits or _ . : -');

/** Answer of `GET /v1/info`. */
export const infoSchema = z.object({
  protocolVersion: z.int(),
  /** Version of the package. */
  version: z.string(),
  /** Name of the cell. */
  id: z.string(),
  /** Changes with each start of the server. */
  instance: z.string(),
  /** As seen from inside. */
  workspace: z.string(),
  isolation: isolationSchema,
});

export type ServerInfo = z.infer<typeof infoSchema>;

const capabilitySchema = z.object({
  name: z.string(),
  state: z.enum(['ready', 'unavailable']),
  /** Why it is not ready. */
  reason: z.string().optional(),
  /** What it is, when it is a plugin. */
  plugin: z
    .object({ version: z.string(), summary: z.string(), actions: z.array(z.string()).readonly() })
    .optional(),
});

/** Answer of `GET /ready`. */
export const readinessSchema = z.object({ ready: z.boolean(), capabilities: z.array(capabilitySchema) });

export type Readiness = z.infer<typeof readinessSchema>;

export const uploadedSchema = z.object({ path: z.string(), files: z.int(), sizeBytes: z.int() });

const side = z.int().min(1).max(10_000);

/** Text frames that a client sends on a terminal socket; binary frames are input. */
export const terminalRequestSchema = z.discriminatedUnion('type', [
  z.strictObject({
    type: z.literal('open'),
    argv: z.array(z.string()).min(1).optional(),
    cwd: z.string().min(1).max(4096).optional(),
    env: z.record(z.string(), z.string()).optional(),
    columns: side.optional(),
    rows: side.optional(),
  }),
  z.strictObject({ type: z.literal('resize'), columns: side, rows: side }),
  z.strictObject({ type: z.literal('close') }),
]);

export type TerminalRequest = z.infer<typeof terminalRequestSchema>;

/** Text frames that a server sends on a terminal socket; binary frames are output. */
export const terminalReplySchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('opened'), id: z.string() }),
  z.object({ type: z.literal('exit'), exitCode: z.int().nullable(), signal: z.string().nullable() }),
  z.object({ type: z.literal('error'), error: z.unknown() }),
]);

export type TerminalReply = z.infer<typeof terminalReplySchema>;
