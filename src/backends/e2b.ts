/** Cells in sandboxes of E2B, or of a service that speaks its protocol. */
import type { Sandbox as E2bSandbox } from 'e2b';
import { z } from 'zod';
import { importOptional } from '../base/optional-package.js';
import { environmentSchema } from '../protocol/actions/common.js';
import { WorkcellError } from '../protocol/index.js';
import { deferred } from '../runtime/client/deferred.js';
import { defineBackend, type FoundCell } from './backend.js';
import { probeVendor } from './vendor/probe-vendor.js';
import { attachToSandbox, sandboxStats, startInSandbox } from './vendor/vendor-cell.js';
import { noCell, vendorError } from './vendor/vendor-errors.js';
import { vendorKey } from './vendor/vendor-key.js';
import { idLabel, keptLabel, type VendorSandbox } from './vendor/vendor-sandbox.js';

type Sdk = typeof import('e2b');

const place = {
  apiKey: z.string().min(1).optional(),
  /** A file that holds the key. Default: the variable `E2B_API_KEY`. */
  apiKeyFile: z.string().min(1).optional(),
  /** Of the control API, where it is not E2B's own. */
  apiUrl: z.url().optional(),
  /** One address for all sandboxes, as a service of ours has. */
  sandboxUrl: z.url().optional(),
  domain: z.string().min(1).optional(),
};

type Where = z.output<z.ZodObject<typeof place>>;

/** So long a sandbox outlives a program that died; one that works in it extends it. */
const graceMs = 300_000;
/** A connection prolongs a life that is shorter, and shortens none. */
const lookMs = 1000;
const commandMs = 120_000;
/** In characters. Programs of a kept cell can have a say in what a shell prints, and the client keeps all of it. */
const mostOutput = 4 * 1024 * 1024;

export default defineBackend({
  type: 'e2b',
  options: {
    ...place,
    template: z.string().min(1).default('base'),
    env: environmentSchema.default({}),
    /** `none` takes the internet from the sandbox. */
    network: z.enum(['none', 'open']).default('none'),
    labels: z.record(z.string(), z.string()).default({}),
    /** How long a cell with keepAlive lives, or lives on after the last that worked in it. Default: an hour. */
    ttlMs: z.int().min(1000).default(3_600_000),
    /** The cell lives on when this process ends; attach to it by its id. Closing still ends it. */
    keepAlive: z.boolean().default(false),
    workspace: z.undefined('is made in the sandbox').optional(),
  },
  place: ['apiKey', 'apiKeyFile', 'apiUrl', 'sandboxUrl', 'domain'],
  secrets: ['apiKey'],
  elsewhere: true,

  probe: (where) =>
    probeVendor({ vendor: 'E2B', cells: 'sandboxes', client: 'e2b', key: () => keyOf(where) }),

  async start({ template, env, network, labels, ttlMs, keepAlive, ...where }, context) {
    const { sdk, connection } = await open(where);
    const livesMs = keepAlive ? ttlMs : graceMs;
    const create = async () => {
      const sandbox = await sdk.Sandbox.create(template, {
        ...connection,
        metadata: { ...labels, [idLabel]: context.id, ...(keepAlive && { [keptLabel]: String(ttlMs) }) },
        timeoutMs: livesMs,
        allowInternetAccess: network === 'open' ? undefined : false,
        ...(keepAlive && { lifecycle: { onTimeout: 'pause' as const } }),
      } as Parameters<Sdk['Sandbox']['create']>[1] & object);
      return asVendor(sdk, sandbox, where, livesMs);
    };
    const translated = () =>
      create().catch((error: unknown) => {
        throw translate(sdk, error);
      });
    return startInSandbox({ backend: 'e2b', create: translated, env, keepAlive }, context);
  },

  async attach(id, where, context) {
    const sandbox = await find(id, where);
    return attachToSandbox({ backend: 'e2b', sandbox, env: {}, keepAlive: true }, context);
  },

  stats: async (id, where, context) => sandboxStats(await find(id, where, lookMs), context),

  async list(where) {
    const { sdk, connection } = await open(where);
    return (await listKept(sdk, connection)).map(({ metadata, state, startedAt }): FoundCell => {
      const { [idLabel]: id = '', [keptLabel]: _kept, ...labels } = metadata;
      return {
        id,
        status: state === 'paused' ? 'paused' : 'running',
        startedAt,
        isolation: 'vendor',
        labels,
      };
    });
  },
});

const keyOf = (where: Partial<Where>) => vendorKey('E2B', 'E2B_API_KEY', where);

async function open({ apiUrl, sandboxUrl, domain, ...given }: Where) {
  const sdk = await importOptional<Sdk>('e2b', 'Backend "e2b"');
  const key = keyOf(given);
  const connection = {
    apiKey: key,
    ...(apiUrl !== undefined && { apiUrl }),
    ...(sandboxUrl !== undefined && { sandboxUrl }),
    ...(domain !== undefined && { domain }),
  };
  return { sdk, connection };
}

/** Connects to a kept cell, which lives at least so long from now on: by default, as long as when it was made. */
async function find(id: string, where: Where, leastMs?: number): Promise<VendorSandbox> {
  const { sdk, connection } = await open(where);
  const found = (await listKept(sdk, connection)).find(({ metadata }) => metadata[idLabel] === id);
  if (found === undefined) throw noCell('E2B', 'sandbox', id);
  const livesMs = Number(found.metadata[keptLabel]) || graceMs;
  const lasts = { ...connection, timeoutMs: leastMs ?? livesMs };
  const sandbox = await sdk.Sandbox.connect(found.sandboxId, lasts).catch((error: unknown) => {
    throw translate(sdk, error);
  });
  return asVendor(sdk, sandbox, where, livesMs);
}

async function listKept(sdk: Sdk, connection: object) {
  const found: Awaited<ReturnType<ReturnType<Sdk['Sandbox']['list']>['nextItems']>> = [];
  const pages = sdk.Sandbox.list(connection);
  try {
    while (pages.hasNext) found.push(...(await pages.nextItems()));
  } catch (error) {
    throw translate(sdk, error);
  }
  return found.filter(({ metadata }) => keptLabel in metadata && idLabel in metadata);
}

function asVendor(sdk: Sdk, sandbox: E2bSandbox, { sandboxUrl }: Where, livesMs: number): VendorSandbox {
  const told = <Value>(work: Promise<Value>) =>
    work.catch((error: unknown) => {
      throw translate(sdk, error);
    });
  return {
    id: sandbox.sandboxId,
    async run(command) {
      const { promise: tooMuch, reject } = deferred<never>();
      tooMuch.catch(() => {});
      let length = 0;
      const count = (piece: string) => {
        length += piece.length;
        if (length > mostOutput) reject(endless(sandbox.sandboxId));
      };
      const options = { timeoutMs: commandMs, onStdout: count, onStderr: count };
      const running = await told(sandbox.commands.run(command, { ...options, background: true }));
      try {
        const { exitCode, stdout, stderr } = await Promise.race([running.wait(), tooMuch]);
        return { exitCode, output: stdout + stderr };
      } catch (error) {
        if (length > mostOutput) await running.kill().catch(() => {});
        if (!(error instanceof sdk.CommandExitError)) throw translate(sdk, error);
        return { exitCode: error.exitCode, output: error.stdout + error.stderr };
      }
    },
    write: async (path, content) =>
      void (await told(sandbox.files.write(path, new Uint8Array(content).buffer, { useOctetStream: true }))),
    async address(port) {
      const traffic = sandbox.trafficAccessToken;
      const token = traffic === undefined ? {} : { 'e2b-traffic-access-token': traffic };
      if (sandboxUrl !== undefined) {
        const route = { 'e2b-sandbox-id': sandbox.sandboxId, 'e2b-sandbox-port': String(port) };
        return { url: sandboxUrl, headers: { ...token, ...route }, host: new URL(sandboxUrl).hostname };
      }
      const host = sandbox.getHost(port);
      return { url: `https://${host}`, headers: token, host };
    },
    end: async () => void (await told(sandbox.kill())),
    extend: () => told(sandbox.setTimeout(livesMs)),
    pause: async () => void (await told(sandbox.pause())),
    resume: async () => void (await told(sandbox.connect({ timeoutMs: livesMs }))),
  };
}

function endless(id: string): WorkcellError {
  return new WorkcellError(
    'backend-unavailable',
    `A command in the sandbox ${id} printed more than ${mostOutput} characters; what runs in it disturbs its shells. End it.`,
    { details: { sandbox: id } },
  );
}

function translate(sdk: Sdk, error: unknown): WorkcellError {
  const classes: [new (...args: never[]) => unknown, number][] = [
    [sdk.AuthenticationError, 401],
    [sdk.RateLimitError, 429],
    [sdk.NotFoundError, 404],
    [sdk.TimeoutError, 504],
    [sdk.InvalidArgumentError, 400],
  ];
  const [, status] = classes.find(([type]) => error instanceof type) ?? [];
  const told = (error as { statusCode?: unknown }).statusCode;
  return vendorError('E2B', error, status ?? (typeof told === 'number' ? told : undefined));
}
