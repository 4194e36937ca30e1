/** Cells in devboxes of Runloop. */
import type Runloop from '@runloop/api-client';
import { z } from 'zod';
import { importOptional } from '../base/optional-package.js';
import { environmentSchema } from '../protocol/actions/common.js';
import { defineBackend, type FoundCell } from './backend.js';
import { probeVendor } from './vendor/probe-vendor.js';
import { attachToSandbox, sandboxStats, startInSandbox } from './vendor/vendor-cell.js';
import { noCell, vendorError } from './vendor/vendor-errors.js';
import { vendorKey } from './vendor/vendor-key.js';
import { idLabel, keptLabel, type VendorSandbox } from './vendor/vendor-sandbox.js';

type Sdk = typeof import('@runloop/api-client');
type Devbox = Runloop.DevboxView;

const place = {
  apiKey: z.string().min(1).optional(),
  /** A file that holds the key. Default: the variable `RUNLOOP_API_KEY`. */
  apiKeyFile: z.string().min(1).optional(),
  /** Default: that of the vendor. */
  apiUrl: z.url().optional(),
  /** Where the ports of a devbox are, with {port} and {key} in it. */
  tunnelUrl: z
    .string()
    .includes('{key}')
    .includes('{port}')
    .default('https://{port}-{key}.tunnel.runloop.ai'),
};

type Where = z.output<z.ZodObject<typeof place>>;

/** So long a devbox outlives a program that died; one that works in it extends it. */
const graceSeconds = 300;

const cloud = 'https://api.runloop.ai';
/** Each is waited for longer, up to ten seconds. */
const maxRetries = 2;

export default defineBackend({
  type: 'runloop',
  options: {
    ...place,
    /** What the devbox starts from. Default: Runloop's own. */
    blueprint: z.string().min(1).optional(),
    env: environmentSchema.default({}),
    /** A policy of your account that says what the devbox reaches. Default: everything. */
    networkPolicy: z.string().min(1).optional(),
    labels: z.record(z.string(), z.string()).default({}),
    /** How long a cell with keepAlive lives on after the last that worked in it. Default: an hour. */
    ttlMs: z.int().min(60_000).default(3_600_000),
    /** The cell lives on when this process ends; attach to it by its id. Closing still ends it. */
    keepAlive: z.boolean().default(false),
    workspace: z.undefined('is made in the devbox').optional(),
  },
  place: ['apiKey', 'apiKeyFile', 'apiUrl', 'tunnelUrl'],
  secrets: ['apiKey'],
  elsewhere: true,

  probe: (where) =>
    probeVendor({
      vendor: 'Runloop',
      cells: 'devboxes',
      client: '@runloop/api-client',
      key: () => keyOf(where),
    }),

  async start({ blueprint, env, networkPolicy, labels, ttlMs, keepAlive, ...where }, context) {
    const { client, toFile } = await open(where);
    const create = async () => {
      const devbox = await client.devboxes.create({
        name: `workcell-${context.id}`,
        ...(blueprint !== undefined && { blueprint_name: blueprint }),
        metadata: { ...labels, [idLabel]: context.id, ...(keepAlive && { [keptLabel]: 'yes' }) },
        launch_parameters: {
          keep_alive_time_seconds: keepAlive ? Math.ceil(ttlMs / 1000) : graceSeconds,
          ...(networkPolicy !== undefined && { network_policy_id: networkPolicy }),
        },
        tunnel: { auth_mode: 'authenticated' },
      });
      return asVendor(client, toFile, devbox, where);
    };
    return startInSandbox(
      { backend: 'runloop', create: () => create().catch(fail), env, keepAlive },
      context,
    );
  },

  async attach(id, where, context) {
    const sandbox = await find(id, where);
    return attachToSandbox({ backend: 'runloop', sandbox, env: {}, keepAlive: true }, context);
  },

  stats: async (id, where, context) => sandboxStats(await find(id, where), context),

  async list(where) {
    const { client } = await open(where);
    return (await listKept(client)).map(({ metadata, create_time_ms }): FoundCell => {
      const { [idLabel]: id = '', [keptLabel]: _kept, ...labels } = metadata;
      return { id, status: 'running', startedAt: new Date(create_time_ms), isolation: 'vendor', labels };
    });
  },
});

async function find(id: string, where: Where): Promise<VendorSandbox> {
  const { client, toFile } = await open(where);
  const devbox = (await listKept(client)).find(({ metadata }) => metadata[idLabel] === id);
  if (devbox === undefined) throw noCell('Runloop', 'devbox', id);
  return asVendor(client, toFile, devbox, where);
}

const keyOf = (where: Partial<Where>) => vendorKey('Runloop', 'RUNLOOP_API_KEY', where);

async function open({ apiUrl = cloud, ...given }: Where) {
  const sdk = await importOptional<Sdk>('@runloop/api-client', 'Backend "runloop"');
  const key = keyOf(given);
  // Without TLS nobody agrees on HTTP/2.
  const http2 = apiUrl.startsWith('https:');
  return {
    client: new sdk.default({ bearerToken: key, baseURL: apiUrl, http2, maxRetries }),
    toFile: sdk.toFile,
  };
}

async function listKept(client: Runloop): Promise<Devbox[]> {
  const found: Devbox[] = [];
  try {
    for await (const devbox of client.devboxes.list({ status: 'running' })) found.push(devbox);
  } catch (error) {
    fail(error);
  }
  return found.filter(({ metadata }) => keptLabel in metadata && idLabel in metadata);
}

function asVendor(
  client: Runloop,
  toFile: Sdk['toFile'],
  found: Devbox,
  { tunnelUrl }: Where,
): VendorSandbox {
  const { devboxes } = client;
  const { id } = found;
  let devbox = found;
  let tunnel: Promise<{ tunnel_key: string; auth_token?: string | null }> | undefined;
  return {
    id,
    async ready() {
      devbox = await devboxes.awaitRunning(id).catch(fail);
    },
    async run(command) {
      const { exit_status, stdout, stderr } = await devboxes
        .executeAndAwaitCompletion(id, { command })
        .catch(fail);
      return { exitCode: exit_status ?? -1, output: `${stdout ?? ''}${stderr ?? ''}` };
    },
    async write(path, content) {
      const file = await toFile(content, 'file');
      // What is left of a body that broke off is not sent again.
      await devboxes.uploadFile(id, { path, file }, { maxRetries: 0 }).catch(fail);
    },
    async address(port) {
      tunnel ??= devbox.tunnel
        ? Promise.resolve(devbox.tunnel)
        : Promise.resolve(devboxes.enableTunnel(id, { auth_mode: 'authenticated' })).catch(fail);
      const { tunnel_key, auth_token } = await tunnel;
      const url = tunnelUrl.replace('{key}', tunnel_key).replace('{port}', String(port));
      const headers = auth_token ? { 'x-runloop-tunnel-authorization': `Bearer ${auth_token}` } : {};
      return { url, headers, host: new URL(url).hostname };
    },
    async end() {
      await devboxes.shutdown(id).catch((error: unknown) => {
        if (statusOf(error) !== 404) fail(error);
      });
    },
    extend: async () => void (await devboxes.keepAlive(id).catch(fail)),
  };
}

function statusOf(error: unknown): number | undefined {
  const { status } = (error ?? {}) as { status?: unknown };
  return typeof status === 'number' ? status : undefined;
}

function fail(error: unknown): never {
  throw vendorError('Runloop', error, statusOf(error));
}
