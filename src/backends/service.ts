/** Cells of a service (`workcell serve`), which keeps, judges and records them. */
import { setTimeout } from 'node:timers/promises';
import { z } from 'zod';
import { readToken } from '../base/http/token.js';
import { actionsWith } from '../cell/plugins/plugin-host.js';
import { ServiceClient } from '../client/service-client.js';
import { environmentSchema } from '../protocol/actions/common.js';
import { type Cell, WorkcellError } from '../protocol/index.js';
import { labelsSchema, type ServiceCell, serviceNameSchema } from '../protocol/service-wire.js';
import { connectExecutor } from '../runtime/client/http-executor.js';
import { defineBackend, type FoundCell, type StartContext } from './backend.js';

const place = {
  /** Address of the service: `http://…` or `https://…`. */
  url: z.url(),
  apiKey: z.string().min(1).optional(),
  /** A file that holds the key. */
  apiKeyFile: z.string().min(1).optional(),
};

type Where = z.output<z.ZodObject<typeof place>>;

export default defineBackend({
  type: 'service',
  options: {
    ...place,
    template: serviceNameSchema.optional(),
    labels: labelsSchema.optional(),
    env: environmentSchema.default({}),
    /** The service ends the cell this long after its creation. */
    ttlMs: z.int().min(1000).optional(),
    /** The service pauses or ends a cell after it was idle for this long. */
    idleMs: z.int().min(1000).optional(),
    /** The cell lives on when this process ends; attach to it by its id. Closing still ends it. */
    keepAlive: z.boolean().default(false),
    workspace: z.undefined('is chosen by the service').optional(),
  },
  place: ['url', 'apiKey', 'apiKeyFile'],
  secrets: ['apiKey'],

  async probe(where) {
    const service = { tier: 'none', advice: ['Start one with: workcell serve'] } as const;
    if (where.url === undefined)
      return { ...service, available: false, summary: 'No service is named: give url, and apiKeyFile.' };
    try {
      keyOf(where);
    } catch (error) {
      const summary = error instanceof Error ? error.message : String(error);
      return { ...service, available: false, summary, advice: [] };
    }
    const summary = `Asks the service at ${new URL(where.url).origin} for cells; what they enforce shows when one is started.`;
    return { ...service, available: true, summary, advice: [] };
  },

  async start({ template, labels, env, ttlMs, idleMs, keepAlive, ...where }, context) {
    const { id, signal } = context;
    const client = clientOf(where);
    // This runtime finds its cell again by the name, whatever id the service gives it.
    const ends = keepAlive || idleMs !== undefined ? { idleMs } : endsWithUs;
    const asked = { name: id, template, labels, env, ttlMs, ...ends };
    try {
      const cell = await client.create(asked, { idempotencyKey: id, signal });
      return await workIn(cell, { where, client, context, keepAlive, held: ends === endsWithUs });
    } catch (error) {
      // Remove it even without an answer: the service may have created it.
      await client.remove(id).catch(() => {});
      throw error;
    }
  },

  async attach(id, where, context) {
    const client = clientOf(where);
    const cell = await client.get(id, { signal: context.signal });
    return workIn(cell, { where, client, context, keepAlive: true, held: false });
  },

  async list(where) {
    const found: FoundCell[] = [];
    for await (const cell of clientOf(where).all()) found.push(foundCell(cell));
    return found;
  },

  stats: (id, where, { signal }) => clientOf(where).stats(id, { signal }),
});

async function workIn(
  cell: ServiceCell,
  parts: {
    where: Where;
    client: ServiceClient;
    context: StartContext;
    keepAlive: boolean;
    /** The cell ends a while after this process does. */
    held: boolean;
  },
): Promise<Cell> {
  const { where, client, context, keepAlive, held } = parts;
  const { id, signal, plugins = [] } = context;
  const { executor, info } = await connectExecutor(
    { url: client.address(cell.id) },
    { token: keyOf(where), client: id, signal, actions: actionsWith(plugins) },
  );
  const hold = new AbortController();
  if (held) void keepHold(client, cell.id, hold.signal);
  let over: Promise<void> | undefined;
  return {
    id,
    backend: 'service',
    executor,
    isolation: info.isolation,
    workspace: info.workspace,
    lost: executor.lost,
    pause: async () => void (await client.pause(cell.id)),
    resume: async () => void (await client.resume(cell.id)),
    stop() {
      over ??= (async () => {
        hold.abort();
        await executor.disconnect();
        await client.remove(cell.id).catch((error: unknown) => {
          if (!WorkcellError.isInstance(error) || error.code !== 'cell-not-found') throw error;
        });
      })();
      return over;
    },
    ...(keepAlive && {
      detach() {
        over ??= executor.disconnect();
        return over;
      },
    }),
  };
}

/** How long a cell outlives the connection that holds it, which may break for a moment. */
const endsWithUs = { idleMs: 60_000, onIdle: 'end' } as const;

const holdAgainMs = 1000;

/**
 * Holds a cell until you release it: connects again when the connection breaks, and stops when the cell has ended.
 */
async function keepHold(client: ServiceClient, cell: string, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    try {
      await client.hold(cell, { signal });
    } catch (error) {
      if (WorkcellError.isInstance(error) && error.code === 'cell-not-found') return;
    }
    await setTimeout(holdAgainMs, undefined, { signal, ref: false }).catch(() => {});
  }
}

function clientOf(where: Where): ServiceClient {
  return new ServiceClient({ url: where.url, apiKey: keyOf(where) });
}

function keyOf({ apiKey, apiKeyFile }: Partial<Where>): string {
  const key = apiKey ?? readToken({ file: apiKeyFile });
  if (key !== undefined) return key;
  throw new WorkcellError(
    'unauthorized',
    'A service wants a key: give apiKey or apiKeyFile (--api-key-file <file>).',
  );
}

function foundCell({ id, name, state, createdAt, labels, workspace, isolation }: ServiceCell): FoundCell {
  return {
    id: name ?? id,
    status: state === 'paused' || state === 'lost' ? state : 'running',
    startedAt: new Date(createdAt),
    labels,
    workspace,
    isolation,
  };
}
