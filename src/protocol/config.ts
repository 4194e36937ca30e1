/** The settings of `workcell.toml`. Variables, messages and `workcell config` derive from this schema. */
import { z } from 'zod';
import { environmentSchema } from './actions/common.js';
import { factCodes } from './facts.js';
import { isolationTiers } from './isolation.js';

export const logLevels = ['silent', 'error', 'warn', 'info', 'debug'] as const;

const seconds = z
  .number()
  .positive()
  .max(2_147_483)
  .describe('seconds, a number above 0 and at most 2147483');

/** A plugin as it is named in a configuration, and as it crosses to an executor elsewhere. */
export const pluginSpecSchema = z.union([
  z.string().min(1),
  z.strictObject({ name: z.string().min(1), options: z.unknown().optional() }),
]);

export type PluginSpec = z.infer<typeof pluginSpecSchema>;

/** Each description completes "Accepted: …". A backend's own section is checked by that backend's schema instead. */
export const configSchema = z.strictObject({
  /** Default: the safest one that can start here. */
  backend: z.string().optional(),
  /** A relative path starts at the directory of the file that names it. Default: what the backend does without one. */
  workspace: z.string().min(1).describe('the path of a directory').optional(),
  /** The start fails when less than this is enforced. */
  min_isolation: z.enum(isolationTiers).optional(),
  /** The start fails when one of these facts about isolation is not enforced. */
  min_facts: z
    .array(z.enum(factCodes))
    .describe(`a list of facts: ${factCodes.join(', ')}`)
    .optional(),
  /** Relative paths and packages are looked for from the directory of the file that names them. Default: all of this package but `agent-skills`. */
  plugins: z
    .array(pluginSpecSchema)
    .describe('a list of names, packages or files, or of tables with name and options')
    .optional(),
  sandbox: z
    .strictObject({
      /** Hard limit of a `run` that names none: its whole process tree is ended. */
      timeout: seconds.optional(),
      /** A `run` that names none returns, the command left alive, when nothing was printed for so long. */
      no_change_timeout: seconds.optional(),
      /** Variables that shells and processes in the cell start with. */
      runtime_startup_env_vars: environmentSchema.describe('a table of NAME = "value"').default({}),
    })
    .prefault({}),
  events: z
    .strictObject({
      /** Default: a file of this user. A relative file starts at the directory of the file that names it. */
      store: z
        .string()
        .regex(/^(memory|sqlite:.+|postgres(ql)?:\/\/.+)$/s)
        .describe('memory, sqlite:<file> or postgres://<user>@<host>/<database>')
        .optional(),
      /** What a recorded event survives: the end of this process, or also a loss of power. */
      durability: z.enum(['process', 'machine']).default('process'),
      /** Older events are removed. */
      retention_days: z.number().positive().max(36_500).describe('days, a number above 0').default(30),
      /** While the store is larger, its oldest events are removed. Not for PostgreSQL. */
      max_bytes: z
        .int()
        .min(1_048_576)
        .describe('bytes, a whole number of at least 1048576')
        .default(1_073_741_824),
    })
    .prefault({}),
  log: z
    .strictObject({
      /** What the command line logs to standard error. */
      level: z.enum(logLevels).default('warn'),
    })
    .prefault({}),
});

export type Config = z.output<typeof configSchema>;
export type LogLevel = (typeof logLevels)[number];
