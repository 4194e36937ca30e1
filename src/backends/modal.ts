/** Cells in sandboxes of Modal. */
import type { ModalClient, Sandbox as ModalSandbox, SandboxCreateParams } from 'modal';
import { z } from 'zod';
import { readToken } from '../base/http/token.js';
import { importOptional } from '../base/optional-package.js';
import { environmentSchema } from '../protocol/actions/common.js';
import { WorkcellError } from '../protocol/index.js';
import { defineBackend, type FoundCell } from './backend.js';
import { probeVendor } from './vendor/probe-vendor.js';
import { attachToSandbox, sandboxStats, startInSandbox } from './vendor/vendor-cell.js';
import { missingKey, noCell, vendorError } from './vendor/vendor-errors.js';
import { idLabel, keptLabel, type VendorSandbox } from './vendor/vendor-sandbox.js';

type Sdk = typeof import('modal');

const place = {
  /** Default: the variable `MODAL_TOKEN_ID`, or what `~/.modal.toml` says. */
  tokenId: z.string().min(1).optional(),
  tokenSecret: z.string().min(1).optional(),
  /** A file that holds the secret. Default: the variable `MODAL_TOKEN_SECRET`, or what `~/.modal.toml` says. */
  tokenSecretFile: z.string().min(1).optional(),
  /** Default: that of the vendor. Without TLS, ports of sandboxes are without, too. */
  apiUrl: z.url().optional(),
  environment: z.string().min(1).optional(),
  /** Sandboxes belong to it. It is made when it is missing. */
  app: z.string().min(1).default('workcell'),
};

type Where = z.output<z.ZodObject<typeof place>>;

/** The executor listens there; Modal opens the ports that a sandbox is made with, and no others. */
const port = 41_000;
/** So long a sandbox outlives a program that died; one that works in it keeps it busy. */
const graceMs = 300_000;
/** Modal's maximum. Nothing prolongs the life of a sandbox. */
const lifetimeMs = 86_400_000;
const commandMs = 120_000;
/** So long the client waits altogether when Modal asks for patience. */
const maxThrottleWaitSecs = 10;

export default defineBackend({
  type: 'modal',
  options: {
    ...place,
    /** From a registry, or an image or snapshot of yours by its id (`im-…`). */
    image: z.string().min(1).default('node:22-bookworm'),
    env: environmentSchema.default({}),
    /** `none` lets the sandbox reach no address. */
    network: z.enum(['none', 'open']).default('none'),
    cpus: z.number().positive().optional(),
    memoryMb: z.int().positive().optional(),
    labels: z.record(z.string(), z.string()).default({}),
    /** How long a cell with keepAlive lives on after the last that worked in it. Default: an hour. */
    ttlMs: z.int().min(60_000).max(lifetimeMs).default(3_600_000),
    /** The cell lives on when this process ends; attach to it by its id. Closing still ends it. */
    keepAlive: z.boolean().default(false),
    workspace: z.undefined('is made in the sandbox').optional(),
  },
  place: ['tokenId', 'tokenSecret', 'tokenSecretFile', 'apiUrl', 'environment', 'app'],
  secrets: ['tokenSecret'],
  elsewhere: true,

  probe: (where) =>
    probeVendor({
      vendor: 'Modal',
      cells: 'sandboxes',
      client: 'modal',
      version: '0',
      key: async () => (await open(where)).modal.close(),
    }),

  async start({ image: base, env, network, cpus, memoryMb, labels, ttlMs, keepAlive, ...where }, context) {
    const { sdk, modal } = await open(where);
    const create = async () => {
      const app = await modal.apps.fromName(where.app, { createIfMissing: true });
      const image = base.startsWith('im-')
        ? await modal.images.fromId(base)
        : modal.images.fromRegistry(base);
      const params: SandboxCreateParams = {
        tags: { ...labels, [idLabel]: context.id, ...(keepAlive && { [keptLabel]: 'yes' }) },
        timeoutMs: lifetimeMs,
        idleTimeoutMs: keepAlive ? Math.ceil(ttlMs / 1000) * 1000 : graceMs,
        encryptedPorts: [port],
        // A blocked network has no ports either.
        ...(network === 'none' && { outboundCidrAllowlist: [] }),
        ...(cpus !== undefined && { cpu: cpus }),
        ...(memoryMb !== undefined && { memoryMiB: memoryMb }),
      };
      return asVendor({ sdk, modal }, await modal.sandboxes.create(app, image, params), where);
    };
    const made = () =>
      create().catch((error: unknown) => {
        modal.close();
        return failWith(sdk)(error);
      });
    return startInSandbox({ backend: 'modal', create: made, env, keepAlive }, context);
  },

  async attach(id, where, context) {
    const sandbox = await find(id, where);
    return attachToSandbox({ backend: 'modal', sandbox, env: {}, keepAlive: true }, context);
  },

  stats: async (id, where, context) => sandboxStats(await find(id, where), context),

  async list(where) {
    const { sdk, modal } = await open(where);
    const kept = await listKept(modal, where)
      .finally(() => modal.close())
      .catch(failWith(sdk));
    return kept.map(({ tags }): FoundCell => {
      const { [idLabel]: id = '', [keptLabel]: _kept, ...labels } = tags;
      return { id, status: 'running', isolation: 'vendor', labels };
    });
  },
});

async function open({ tokenId, tokenSecret, tokenSecretFile, apiUrl, environment }: Partial<Where>) {
  const sdk = await importOptional<Sdk>('modal', 'Backend "modal"');
  const secret = tokenSecret ?? readToken({ file: tokenSecretFile });
  const modal = withServer(
    apiUrl,
    () =>
      new sdk.ModalClient({
        ...(tokenId !== undefined && { tokenId }),
        ...(secret !== undefined && { tokenSecret: secret }),
        ...(environment !== undefined && { environment }),
        maxThrottleWaitSecs,
        // It writes to the console.
        logLevel: 'error',
      }),
  );
  const { tokenId: id, tokenSecret: hidden, oauthRefreshToken } = modal.profile;
  if (!(id && hidden) && !oauthRefreshToken)
    throw missingKey('Modal', 'MODAL_TOKEN_ID and MODAL_TOKEN_SECRET');
  return { sdk, modal };
}

/** The client takes the address from this variable alone, while it is made. */
function withServer<Result>(url: string | undefined, make: () => Result): Result {
  if (url === undefined) return make();
  const before = process.env.MODAL_SERVER_URL;
  process.env.MODAL_SERVER_URL = url;
  try {
    return make();
  } finally {
    if (before === undefined) delete process.env.MODAL_SERVER_URL;
    else process.env.MODAL_SERVER_URL = before;
  }
}

async function find(id: string, where: Where): Promise<VendorSandbox> {
  const { sdk, modal } = await open(where);
  try {
    const kept = await listKept(modal, where).catch(failWith(sdk));
    const found = kept.find(({ tags }) => tags[idLabel] === id);
    if (found === undefined) throw noCell('Modal', 'sandbox', id);
    return asVendor({ sdk, modal }, found.sandbox, where);
  } catch (error) {
    modal.close();
    throw error;
  }
}

/** Modal lists sandboxes without their tags. */
async function listKept(modal: ModalClient, { app }: Where) {
  const kept: { sandbox: ModalSandbox; tags: Record<string, string> }[] = [];
  const { appId } = await modal.apps.fromName(app, { createIfMissing: true });
  for await (const sandbox of modal.sandboxes.list({ appId, tags: { [keptLabel]: 'yes' } })) {
    const tags = await sandbox.getTags();
    if (idLabel in tags) kept.push({ sandbox, tags });
  }
  return kept;
}

function asVendor(
  { sdk, modal }: Awaited<ReturnType<typeof open>>,
  sandbox: ModalSandbox,
  { apiUrl }: Where,
): VendorSandbox {
  const fail = failWith(sdk);
  const leave = () => {
    sandbox.detach();
    modal.close();
  };
  const run = async (command: string) => {
    const shell = await sandbox.exec(['sh', '-c', command], { timeoutMs: commandMs });
    const [exitCode, stdout, stderr] = await Promise.all([
      shell.wait(),
      shell.stdout.readText(),
      shell.stderr.readText(),
    ]);
    return { exitCode, output: stdout + stderr };
  };
  return {
    id: sandbox.sandboxId,
    port,
    run: (command) => run(command).catch(fail),
    write: (path, content) => sandbox.filesystem.writeBytes(content, path).catch(fail),
    async address() {
      const { [port]: tunnel } = await sandbox.tunnels().catch(fail);
      if (tunnel === undefined)
        throw new WorkcellError(
          'backend-unavailable',
          `Modal opened no port ${port} of ${sandbox.sandboxId}.`,
        );
      const scheme = apiUrl?.startsWith('http:') ? 'http' : 'https';
      return { url: `${scheme}://${tunnel.host}:${tunnel.port}`, headers: {}, host: tunnel.host };
    },
    async end() {
      await sandbox.terminate().catch((error: unknown) => {
        if (statusOf(sdk, error) !== 404) fail(error);
      });
      leave();
    },
    leave,
    // What runs in a sandbox, if only for a moment, keeps it from being idle.
    extend: async () => void (await run('true').catch(fail)),
  };
}

/** What the statuses of gRPC are in HTTP. */
const statuses: Readonly<Record<number, number>> = { 3: 400, 4: 504, 5: 404, 7: 403, 8: 429, 16: 401 };

function statusOf(sdk: Sdk, error: unknown): number | undefined {
  const classes: [new (...args: never[]) => unknown, number][] = [
    [sdk.NotFoundError, 404],
    [sdk.InvalidError, 400],
    [sdk.ResourceExhaustedError, 429],
    [sdk.TimeoutError, 504],
    [sdk.SandboxTimeoutError, 504],
  ];
  const [, status] = classes.find(([type]) => error instanceof type) ?? [];
  const { code } = (error ?? {}) as { code?: unknown };
  return status ?? (typeof code === 'number' ? statuses[code] : undefined);
}

function failWith(sdk: Sdk): (error: unknown) => never {
  return (error) => {
    throw vendorError('Modal', error, statusOf(sdk, error));
  };
}
