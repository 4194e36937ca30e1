/** The settings of `workcell.toml`. Variables, messages, `workcell config` and docs/reference/settings.md derive from this schema. */
import * as z from 'zod';
import { environmentSchema } from './actions/common.js';
import { about, filePath, storeName } from './config-marks.js';
import { endpointFields, secretsSchema, securitySchema } from './config-security.js';
import { serviceSchema } from './config-service.js';
import { factCodes } from './facts.js';
import { isolationTiers } from './isolation.js';
import { mcpServersSchema } from './mcp-server-schema.js';
import { hostsSchema, networkPresets, requestRuleSchema, ruleListSchema } from './network/network-schema.js';
import { pluginSpecSchema } from './plugin-spec.js';

export const logLevels = ['silent', 'error', 'warn', 'info', 'debug'] as const;

const seconds = z
  .number()
  .positive()
  .max(2_147_483)
  .describe('seconds, a number above 0 and at most 2147483');

/** Where tools come from, as a configuration names it. */
const toolEntrySchema = z.union([
  z.string().min(1),
  z.strictObject({ entry: z.string().min(1), arguments: z.unknown().optional() }),
]);

export type ToolEntry = z.infer<typeof toolEntrySchema>;

const presetName = z.string().regex(/^[a-z][a-z0-9-]{0,39}$/, 'must be letters in lower case, digits or -');

/** Each description completes "Accepted: …". The schema of a backend checks that backend's own section. */
export const configSchema = z.strictObject({
  backend: about(
    'Where cells run: a name, or a package or file that exports a backend, relative to the file that names it. Default: the safest one that can start here.',
    z.string().min(1).describe('the name of a backend, a package or a file').optional(),
  ),
  workspace: about(
    'The directory to work in. Default: what the backend does without one.',
    filePath('the path of a directory').optional(),
  ),
  min_isolation: about(
    'The start fails when the cell enforces less than this. Can stand in `[security]`, too.',
    z.enum(isolationTiers).optional(),
  ),
  min_facts: about(
    'The start fails when the cell does not enforce one of these facts about isolation, whatever its tier. Can stand in `[security]`, too.',
    z
      .array(z.enum(factCodes))
      .describe(`a list of facts: ${factCodes.join(', ')}`)
      .optional(),
  ),
  plugins: about(
    'Which plugins the executor has: names, packages or files. Default: all of this package but `agent-skills`.',
    z
      .array(pluginSpecSchema)
      .describe('a list of names, packages or files, or of tables with name and options')
      .optional(),
  ),
  sandbox: z
    .strictObject({
      timeout: about(
        'Seconds; ends a command without its own limit, and everything that it started. Default: no limit.',
        seconds.optional(),
      ),
      no_change_timeout: about(
        'Seconds; hands back a command without its own limit, still running, when it prints nothing for this long. Default: no limit.',
        seconds.optional(),
      ),
      runtime_startup_env_vars: about(
        'Variables that shells and processes in the cell start with.',
        environmentSchema.describe('a table of NAME = "value"').default({}),
      ),
    })
    .prefault({}),
  security: securitySchema,
  secrets: about(
    'Secrets by name, each with its source. Workcell masks their values in everything that leaves the cell.',
    secretsSchema,
  ),
  mcp: z
    .strictObject({
      servers: about(
        'MCP servers by name, which connect on the first use of MCP. `${NAME}` in `env` and `headers` stands for a secret with reach `env`.',
        mcpServersSchema.default({}),
      ),
    })
    .prefault({}),
  tools: z
    .strictObject({
      entries: about(
        'Tools to register at the start: files or packages, with an optional `#export`; a Python file; or tables with `entry` and `arguments`.',
        z
          .array(toolEntrySchema)
          .describe('a list of entry points, or of tables with entry and arguments')
          .default([]),
      ),
    })
    .prefault({}),
  network: z
    .strictObject({
      mode: about(
        "`none`: nothing but its own loopback, and the start fails where the backend cannot enforce that. `open`: everything that this machine reaches; on `sandbox` every public host, and neither the machine nor its private networks. Default: the backend's own, `none` where it isolates.",
        z.enum(['none', 'open']).optional(),
      ),
      allow: about(
        'Hosts that a cell may reach, such as `api.example.com:443`; nothing else then. Not with `mode`.',
        ruleListSchema.describe('a list of rules such as *.example.com:443').optional(),
      ),
      deny: about(
        'Hosts that no cell may reach, whatever other settings say. A cell with an open network cannot start then.',
        ruleListSchema.describe('a list of rules such as *.example.com').optional(),
      ),
      within: about(
        'The only hosts that any cell may reach, whatever code, flags, questions and other settings allow. A cell with an open network cannot start then.',
        ruleListSchema.describe('a list of rules such as *.example.com:443').optional(),
      ),
      preset: about(
        'Tools whose own settings on this machine say which hosts a cell may reach.',
        z
          .array(presetName)
          .describe(`a list of ${networkPresets.join(', ')}, and names in presets`)
          .optional(),
      ),
      presets: about(
        'Presets of your own: names, each with the hosts that it stands for. `preset` and `--allow` take them.',
        z
          .record(
            presetName.refine(
              (name) => !networkPresets.some((preset) => preset === name),
              'is a preset of Workcell; give yours another name',
            ),
            ruleListSchema,
          )
          .describe('a table of name = ["api.example.com:443"]')
          .optional(),
      ),
      requests: about(
        'Hosts of which only these requests pass, whose TLS the gateway opens.',
        z.array(requestRuleSchema).describe('a list of tables with host, methods and paths').optional(),
      ),
      hosts: about(
        'Where names lead to, in place of the answer of the resolver. Counts with rules.',
        hostsSchema.describe('a table of "name" = "address:port"').optional(),
      ),
      limits: about(
        'Limits of a whole cell: its connections at one time and in a second, the bytes that it sends and receives, and the bytes in a second each way. Counts with rules.',
        z
          .strictObject({
            connections: z.int().min(1).max(16_384).optional(),
            connections_per_second: z.int().positive().optional(),
            sent_bytes: z.int().positive().optional(),
            received_bytes: z.int().positive().optional(),
            bytes_per_second: z.int().positive().optional(),
          })
          .describe(
            'a table of connections, connections_per_second, sent_bytes, received_bytes and bytes_per_second',
          )
          .optional(),
      ),
      ask: about(
        'Asks about a host that no rule covers: on the terminal, in the program, and in `workcell events --pending`.',
        z.boolean().optional(),
      ),
      unenforced: about(
        'Starts cells of `local` and `cli` in spite of rules, although nothing can hold them there: such a cell reaches everything, and its record says so. Default: the start fails.',
        z.boolean().optional(),
      ),
    })
    .prefault({}),
  events: z
    .strictObject({
      store: about(
        'Where to keep events. Default: a file of this user.',
        storeName(
          /^(memory|sqlite:.+|postgres(ql)?:\/\/.+)$/s,
          'memory, sqlite:<file> or postgres://<user>@<host>/<database>',
        ).optional(),
      ),
      durability: about(
        'What a recorded event survives: the end of this process, or also a loss of power.',
        z.enum(['process', 'machine']).default('process'),
      ),
      retention_days: about(
        'Removes older events.',
        z.number().positive().max(36_500).describe('days, a number above 0').default(30),
      ),
      max_bytes: about(
        'Removes the oldest events while the store is larger. Not for PostgreSQL.',
        z.int().min(1_048_576).describe('bytes, a whole number of at least 1048576').default(1_073_741_824),
      ),
    })
    .prefault({}),
  openhands: z
    .strictObject({
      llm_editor: about(
        'The model that applies drafts: `edit` actions of OpenHands V0 with `llm_based_edit`.',
        z
          .strictObject({
            ...endpointFields,
            timeout: about('Seconds for one try. Default: 60.', seconds.optional()),
          })
          .optional(),
      ),
      auto_lint: about(
        'Checks the form of a text that an `edit` action of OpenHands V0 changes, with the tools of the cell, and tells new mistakes.',
        z.boolean().default(false),
      ),
    })
    .prefault({}),
  service: serviceSchema,
  log: z
    .strictObject({
      level: about('What the command line logs to standard error.', z.enum(logLevels).default('warn')),
    })
    .prefault({}),
});

export type Config = z.output<typeof configSchema>;
export type LogLevel = (typeof logLevels)[number];
