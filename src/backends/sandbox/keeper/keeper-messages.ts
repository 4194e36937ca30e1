/** The requests to a keeper and its answers. Both sides check what they get. */
import { z } from 'zod';
import { handshakeSchema } from '../../../cell/server/boot-protocol.js';
import { pluginSpecSchema } from '../../../protocol/plugin-spec.js';
import { sandboxOptions } from '../sandbox-options.js';

/** Of the process. */
export const keeperSettingsSchema = z.strictObject({
  /** Where it listens for cells to start. */
  socketPath: z.string(),
});

export const secretSchema = z.strictObject({
  name: z.string(),
  hosts: z.array(z.string()),
  body: z.boolean().optional(),
});

/** A secret that stays outside of the cell; its owner has the value. */
export type BoundSecret = z.infer<typeof secretSchema>;

/** Starts a cell: settings in, handshake out, on one connection, which then stays open as long as the cell runs. */
export const startSchema = z.strictObject({
  id: z.string().regex(/^[\w-]{1,64}$/),
  token: z.string().min(16),
  /** Outlives this connection; else it ends with it. */
  keepAlive: z.boolean(),
  options: z.strictObject(sandboxOptions),
  /** What the environment of the caller says, which a keeper does not have. */
  caller: z.strictObject({
    gitSettings: z.string().optional(),
    cacheDirectory: z.string(),
  }),
  plugins: z.array(pluginSpecSchema),
  /** What the gateway puts into requests, without the values. */
  secrets: z.array(secretSchema),
});

export type StartRequest = z.infer<typeof startSchema>;

/** To one cell, at its own socket. `watch` and `network` stay open as long as the cell runs. */
export const cellRequestSchema = z.strictObject({
  token: z.string(),
  ask: z.enum(['watch', 'network', 'pause', 'resume', 'stop']),
});

export type CellRequest = z.infer<typeof cellRequestSchema>;

/** First a handshake; on a connection that stays open later how the cell ended by itself. */
export const keeperAnswerSchema = z.union([handshakeSchema, z.object({ ended: z.string() })]);
