/** The `[service]` section: what `workcell serve` offers, and to whom. */
import * as z from 'zod';
import { about, filePath, storeName } from './config-marks.js';
import { onIdleChoices, serviceNameSchema } from './service-wire.js';

const seconds = z.number().positive().max(31_622_400);

const templateSchema = z.strictObject({
  backend: z.string().min(1).optional(),
  options: z.record(z.string(), z.unknown()).optional(),
  ttl: seconds.optional(),
  idle: seconds.optional(),
  on_idle: z.enum(onIdleChoices).optional(),
  pool: z.int().min(0).max(64).optional(),
});

export type ServiceTemplate = z.output<typeof templateSchema>;

const tenantSchema = z.strictObject({
  max_cells: z.int().min(0).optional(),
  starts_per_minute: z.number().positive().optional(),
  max_requests: z.int().min(1).optional(),
  max_memory_bytes: z.int().min(1).optional(),
  max_cpus: z.number().positive().optional(),
});

export const serviceSchema = z
  .strictObject({
    store: about(
      'Where `workcell serve` keeps its cells and keys: `sqlite:<file>`, or `postgres://…` for several replicas. Default: a file of this user.',
      storeName(
        /^(?:sqlite:.+|postgres(?:ql)?:\/\/.+)$/s,
        'sqlite:<file> or postgres://<user>@<host>/<database>',
      ).optional(),
    ),
    replica_listen: about(
      'Where a replica with a store in PostgreSQL listens for the other ones. They prove to each other that they know the store, and encrypt.',
      z
        .string()
        .regex(/^(?:\[[\da-f:.]+\]|[^:[\]]+):\d{1,5}$/i)
        .describe('<host>:<port>')
        .default('127.0.0.1:0'),
    ),
    replica_lease: about(
      'How many seconds the replica that serves may be silent before another one takes over. Needs PostgreSQL 14; with older ones, only the end of its process or its machine counts.',
      z.number().min(1).max(3600).describe('a number of seconds from 1 to 3600').default(10),
    ),
    replica_host: about(
      'The host under which other replicas reach this one. Default: that of `replica_listen`.',
      z.string().min(1).describe('a host name or address').optional(),
    ),
    url: about(
      'Where clients reach the service, such as `https://cells.example.com`, for the addresses that it hands out. Default: where their request went.',
      z
        .url({ protocol: /^https?$/ })
        .describe('an address with http or https')
        .optional(),
    ),
    templates: about(
      'Named start options for cells: `backend`, `options` of that backend, `ttl` and `idle` in seconds, `on_idle` (`pause` or `end`), `pool` (how many cells start ahead for each tenant that uses it). `default` exists even if you do not define it.',
      z
        .record(serviceNameSchema, templateSchema)
        .describe('a table of templates, each with backend, options, ttl, idle, on_idle and pool')
        .default({}),
    ),
    tenants: about(
      'Limits of tenants by name: `max_cells`, `starts_per_minute`, `max_requests`, and `max_memory_bytes` and `max_cpus` for the limits of their cells together. Others have those of `max_cells_per_tenant` and `max_requests_per_tenant` alone.',
      z
        .record(serviceNameSchema, tenantSchema)
        .describe(
          'a table of tenants, each with max_cells, starts_per_minute, max_requests, max_memory_bytes and max_cpus',
        )
        .default({}),
    ),
    preview_listen: about(
      'Where ports of cells are served as web addresses, such as `127.0.0.1:8721`; a port of its own, so that they are never same-origin with the service. Default: nowhere.',
      z
        .string()
        .regex(/^(?:\[[\da-f:.]+\]|[^:[\]]+):\d{1,5}$/i)
        .describe('<host>:<port>')
        .optional(),
    ),
    preview_url: about(
      'Where browsers reach those: `https://*.preview.example.com` gives each preview a host of its own. Default: `preview_listen`, with paths.',
      z
        .string()
        .regex(/^https?:\/\/(?:\*\.)?[\w.-]+(?::\d{1,5})?$/, 'must be http(s)://[*.]<host>[:<port>]')
        .describe('an address, with *. before the host where each preview has one')
        .optional(),
    ),
    webhooks: z
      .strictObject({
        url: about(
          'Gets a request when a cell changes its state.',
          z.url({ protocol: /^https?$/ }).describe('an address with http or https'),
        ),
        secret_file: about('A file that holds the secret which signs those requests.', filePath()),
      })
      .describe('a table with url and secret_file')
      .optional(),
    max_cells: about(
      'Cells of all tenants together.',
      z.int().min(1).describe('a whole number of at least 1').default(1000),
    ),
    max_cells_per_tenant: about(
      'Cells of one tenant that has no limit of its own.',
      z.int().min(1).describe('a whole number of at least 1').default(200),
    ),
    max_requests_per_tenant: about(
      'Requests of one tenant that are open at the same time, streams included, if it has no limit of its own. One key may have three quarters of them.',
      z.int().min(1).describe('a whole number of at least 1').default(1024),
    ),
    max_checkpoints_per_tenant: about(
      'Checkpoints of one tenant. Also those of cells that have ended count.',
      z.int().min(0).describe('a whole number of at least 0').default(100),
    ),
    max_checkpoint_bytes_per_tenant: about(
      'What the checkpoints of one tenant hold together, in bytes. A file that several of them share counts for each.',
      z.int().min(0).describe('a whole number of at least 0').default(34_359_738_368),
    ),
    max_keys_per_tenant: about(
      'Keys of one tenant, without those that have expired.',
      z.int().min(1).describe('a whole number of at least 1').default(1000),
    ),
    requests_per_second_per_key: about(
      'Requests of one key in a second, twice as many at once. The key of the operator has no such limit.',
      z.number().positive().describe('a positive number').default(2000),
    ),
    starts_at_once: about(
      'So many cells start at the same time, one fewer for a single tenant; others wait, tenants in turn.',
      z.int().min(1).max(256).describe('a whole number from 1 to 256').default(4),
    ),
  })
  .prefault({});

export type ServiceSettings = z.output<typeof serviceSchema>;
