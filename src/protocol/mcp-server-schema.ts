/**
 * MCP servers, written the same way in an action and in a configuration, in the form of common configuration files.
 */
import * as z from 'zod';
import { environmentSchema, pathSchema } from './actions/common.js';
import { about } from './config-marks.js';

export const mcpServerNameSchema = z
  .string()
  .regex(/^[\w.-]{1,64}$/, 'must be 1 to 64 letters, digits or _ . -');

const reference = '`${NAME}` stands for a secret of that name that may reach the cell.';

const stdioServerSchema = z.strictObject({
  type: z.literal('stdio').optional(),
  command: about('A program of the cell.', z.string().min(1)),
  args: about('Its arguments.', z.array(z.string()).default([])),
  env: about(`Its variables. ${reference}`, environmentSchema.default({})),
  cwd: about('Where it starts, in the cell.', pathSchema.optional()),
});

const httpServerSchema = z.strictObject({
  type: about('Streamable HTTP, or server-sent events.', z.enum(['http', 'sse']).default('http')),
  url: about('Where it is, as seen from inside the cell.', z.url({ protocol: /^https?$/ })),
  headers: about(`Sent with each request. ${reference}`, z.record(z.string(), z.string()).default({})),
});

export const mcpServerSchema = z.union([stdioServerSchema, httpServerSchema]);

/** Servers by name, as in the `mcpServers` of common configuration files. */
export const mcpServersSchema = z.record(mcpServerNameSchema, mcpServerSchema);

export type McpServers = z.input<typeof mcpServersSchema>;
