/** Cells in sandboxes of Daytona. */
import { randomUUID } from 'node:crypto';
import type { Daytona, Sandbox as DaytonaSandbox } from '@daytonaio/sdk';
import { z } from 'zod';
import { importOptional } from '../base/optional-package.js';
import { quote } from '../base/shell-quote.js';
import { environmentSchema } from '../protocol/actions/common.js';
import { WorkcellError } from '../protocol/index.js';
import { defineBackend, type FoundCell } from './backend.js';
import { probeVendor } from './vendor/probe-vendor.js';
import { attachToSandbox, sandboxStats, startInSandbox } from './vendor/vendor-cell.js';
import { noCell, vendorError } from './vendor/vendor-errors.js';
import { vendorKey } from './vendor/vendor-key.js';
import { idLabel, keptLabel, type VendorSandbox } from './vendor/vendor-sandbox.js';

type Sdk = typeof import('@daytonaio/sdk');
type ListedSandbox = ReturnType<Daytona['list']> extends AsyncIterable<infer One> ? One : never;

const place = {
  apiKey: z.string().min(1).optional(),
  /** A file that holds the key. Default: the variable `DAYTONA_API_KEY`. */
  apiKeyFile: z.string().min(1).optional(),
  /** Default: that of the vendor. */
  apiUrl: z.url().optional(),
  /** A region. Default: that of the organisation. */
  target: z.string().min(1).optional(),
};

type Where = z.output<z.ZodObject<typeof place>>;

/** So many minutes without a sign of life end a sandbox whose program died; one that works in it says that it is there. */
const graceMinutes = 5;
const commandSeconds = 120;
/** The first sandbox of a snapshot waits until a machine has it. */
const createSeconds = 600;
/** A request has a day otherwise. */
const requestTimeoutMs = 150_000;

const cloud = 'https://app.daytona.io/api';

export default defineBackend({
  type: 'daytona',
  options: {
    ...place,
    /** What the sandbox starts from. Default: Daytona's own. */
    snapshot: z.string().min(1).optional(),
    env: environmentSchema.default({}),
    /** `none` takes the network from the sandbox. */
    network: z.enum(['none', 'open']).default('none'),
    labels: z.record(z.string(), z.string()).default({}),
    /** How long a cell with keepAlive lives on after the last that worked in it. Default: an hour. */
    ttlMs: z.int().min(60_000).default(3_600_000),
    /** The cell lives on when this process ends; attach to it by its id. Closing still ends it. */
    keepAlive: z.boolean().default(false),
    workspace: z.undefined('is made in the sandbox').optional(),
  },
  place: ['apiKey', 'apiKeyFile', 'apiUrl', 'target'],
  secrets: ['apiKey'],
  elsewhere: true,

  probe: (where) =>
    probeVendor({ vendor: 'Daytona', cells: 'sandboxes', client: '@daytonaio/sdk', key: () => keyOf(where) }),

  async start({ snapshot, env, network, labels, ttlMs, keepAlive, ...where }, context) {
    const daytona = await open(where);
    const start = randomUUID();
    const params = {
      ...(snapshot !== undefined && { snapshot }),
      labels: {
        ...labels,
        [idLabel]: context.id,
        [startLabel]: start,
        ...(keepAlive && { [keptLabel]: 'yes' }),
      },
      autoStopInterval: keepAlive ? Math.ceil(ttlMs / 60_000) : graceMinutes,
      // Its programs end when it stops, so that nobody can go on in it: it is deleted then.
      ephemeral: true,
      ...(network === 'none' && { networkBlockAll: true }),
    };
    const create = async () =>
      asVendor(await daytona.create(params, { timeout: createSeconds }).catch(fail), daytona);
    // The client makes a sandbox and waits for it, and when the wait fails it does not tell which one.
    const endLeft = async () => {
      const left = await listWith(daytona, { [startLabel]: start });
      await Promise.all(left.map(remove)).finally(() => daytona[Symbol.asyncDispose]());
    };
    return startInSandbox({ backend: 'daytona', create, endLeft, env, keepAlive }, context);
  },

  async attach(id, where, context) {
    const daytona = await open(where);
    const { sandbox: found, status } = await findKept(daytona, id);
    const sandbox = await daytona.get(found.id).catch(fail);
    if (status === 'paused') await sandbox.start().catch(fail);
    const vendor = asVendor(sandbox, daytona);
    return attachToSandbox({ backend: 'daytona', sandbox: vendor, env: {}, keepAlive: true }, context);
  },

  async stats(id, where, context) {
    const daytona = await open(where);
    const { sandbox } = await findKept(daytona, id);
    try {
      const vendor = asVendor(await daytona.get(sandbox.id).catch(fail), daytona);
      return await sandboxStats(vendor, context);
    } finally {
      await daytona[Symbol.asyncDispose]();
    }
  },

  async list(where) {
    const daytona = await open(where);
    const found = await listKept(daytona, {});
    await daytona[Symbol.asyncDispose]();
    return found.map((sandbox): FoundCell => {
      const { [idLabel]: id = '', ...others } = sandbox.labels;
      const { [keptLabel]: _kept, [startLabel]: _start, [clientLabel]: _client, ...labels } = others;
      const startedAt = sandbox.createdAt === undefined ? undefined : new Date(sandbox.createdAt);
      return { id, status: statusOfCell(sandbox), startedAt, isolation: 'vendor', labels };
    });
  },
});

/** A different one for each start: Daytona lets several sandboxes have the same id of a cell. */
const startLabel = 'workcell-start';
/** The client puts it on every sandbox. */
const clientLabel = 'code-toolbox-language';

const listKept = (daytona: Daytona, labels: Record<string, string>) =>
  listWith(daytona, { ...labels, [keptLabel]: 'yes' });

async function findKept(daytona: Daytona, id: string) {
  const [sandbox] = await listKept(daytona, { [idLabel]: id });
  const status = sandbox === undefined ? undefined : statusOfCell(sandbox);
  if (sandbox !== undefined && status !== 'lost') return { sandbox, status };
  await daytona[Symbol.asyncDispose]();
  if (sandbox === undefined) throw noCell('Daytona', 'sandbox', id);
  throw new WorkcellError(
    'cell-not-found',
    `The sandbox of the cell "${id}" is in the state "${sandbox.state}", so its programs are gone. Delete it, and start another cell.`,
    { details: { id } },
  );
}

async function listWith(daytona: Daytona, labels: Record<string, string>) {
  const found: ListedSandbox[] = [];
  try {
    for await (const one of daytona.list({ labels })) found.push(one);
  } catch (error) {
    await daytona[Symbol.asyncDispose]();
    fail(error);
  }
  return found;
}

const statuses: Readonly<Record<string, FoundCell['status']>> = {
  started: 'running',
  paused: 'paused',
};

/** In every other state its programs are gone, so that nobody can go on in it. */
const statusOfCell = ({ state }: ListedSandbox) => statuses[String(state)] ?? 'lost';

const keyOf = (where: Partial<Where>) => vendorKey('Daytona', 'DAYTONA_API_KEY', where);

async function open({ apiUrl = cloud, target, ...given }: Where): Promise<Daytona> {
  const sdk = await importOptional<Sdk>('@daytonaio/sdk', 'Backend "daytona"');
  const key = keyOf(given);
  return new sdk.Daytona({ apiKey: key, apiUrl, requestTimeoutMs, ...(target !== undefined && { target }) });
}

function asVendor(sandbox: DaytonaSandbox, daytona: Daytona): VendorSandbox {
  return {
    id: sandbox.id,
    async run(command) {
      // The daemon splits words itself in some versions.
      const words = `sh -c ${quote(command)}`;
      const { exitCode, result } = await sandbox.process
        .executeCommand(words, undefined, undefined, commandSeconds)
        .catch(fail);
      return { exitCode, output: result };
    },
    write: (path, content) => sandbox.fs.uploadFile(content, path).catch(fail),
    async address(port) {
      const { url, token } = await sandbox.getPreviewLink(port).catch(fail);
      return { url, headers: { 'x-daytona-preview-token': token }, host: new URL(url).hostname };
    },
    async end() {
      await remove(sandbox);
      await daytona[Symbol.asyncDispose]();
    },
    extend: () => sandbox.refreshActivity().catch(fail),
    pause: () => sandbox.pause().catch(fail),
    resume: () => sandbox.start().catch(fail),
  };
}

/** Succeeds when it is gone already. */
async function remove(sandbox: { delete(): Promise<void> }): Promise<void> {
  await sandbox.delete().catch((error: unknown) => {
    if (statusOf(error) !== 404) fail(error);
  });
}

function statusOf(error: unknown): number | undefined {
  const { statusCode } = (error ?? {}) as { statusCode?: unknown };
  return typeof statusCode === 'number' ? statusCode : undefined;
}

function fail(error: unknown): never {
  throw vendorError('Daytona', error, statusOf(error));
}
