/** The control API: making, finding, pausing and ending sandboxes. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type * as z from 'zod';
import { createCellSchema } from '../../../protocol/service-wire.js';
import { admit } from '../../../service/service-access.js';
import type { ServiceParts } from '../../../service/service-app.js';
import { checkRole } from '../../../service/service-keys.js';
import type { KeyRecord } from '../../../service/service-store.js';
import { E2bError, sendE2bError } from '../e2b-errors.js';
import type { Sandbox, StoredFacts } from '../e2b-sandbox.js';
import type { Sandboxes } from '../e2b-sandboxes.js';
import { body, query } from './control-input.js';
import { listSandboxes } from './list-sandboxes.js';
import { logRoutes } from './log-routes.js';
import { measure } from './measure.js';
import { changeNetwork, networkFor } from './sandbox-network.js';
import {
  connectSchema,
  listSchema,
  metricsSchema,
  type NewSandbox,
  networkUpdateSchema,
  newSandboxSchema,
  pauseSchema,
  refreshSchema,
  timeoutSchema,
} from './sandbox-schemas.js';
import { detailView, listedView, openedView } from './sandbox-views.js';
import { snapshotRoutes } from './snapshot-routes.js';
import { findSnapshot } from './snapshots.js';
import { templateFor, templateRoutes } from './template-routes.js';

/** What the routes of the control API share: whose request it is, and its sandbox. */
export interface Control {
  readonly parts: ServiceParts;
  readonly sandboxes: Sandboxes;
  askerOf(request: FastifyRequest): KeyRecord;
  /** The sandbox that the path names, if this key may use it. */
  find(request: FastifyRequest, needed: 'reader' | 'user'): Sandbox;
}

const defaultSeconds = { v1: 15, v2: 300 };

export function controlRoutes(app: FastifyInstance, parts: ServiceParts, sandboxes: Sandboxes): void {
  const control = authenticate(app, parts, sandboxes);
  const { cells } = parts;
  const opened = async (request: FastifyRequest, sandbox: Sandbox) =>
    openedView(sandbox, await sandboxes.tokensFor(sandbox, control.askerOf(request)));
  app.setErrorHandler((error, _request, reply) => sendE2bError(reply, error, parts.log));

  for (const [path, version] of [
    ['/sandboxes', 'v1'],
    ['/v2/sandboxes', 'v2'],
  ] as const) {
    app.post(path, async (request, reply) => {
      const asker = control.askerOf(request);
      checkRole(asker, 'user', 'make sandboxes');
      const asked = body(newSandboxSchema, request);
      const made = await create(control, asker, asked, defaultSeconds[version], request);
      return reply.code(201).send(await opened(request, made));
    });
    app.post(`${path}/:id/connect`, async (request, reply) => {
      const { timeout = 300, memory } = body(connectSchema, request);
      checkMemory(memory ?? true);
      const found = control.find(request, 'user');
      const wasPaused = found.record.state === 'paused';
      await cells.resume(found.record.tenant, found.record.id);
      return reply
        .code(wasPaused ? 201 : 200)
        .send(await opened(request, await extend(control, found, timeout, wasPaused)));
    });
  }

  app.get('/v2/sandboxes', async (request, reply) => {
    const { page, next, running } = pageFor(control, request, query(listSchema, request));
    void reply.header('x-total-running', String(running));
    if (next !== undefined) void reply.header('x-next-token', next);
    return page.map(listedView);
  });
  app.get('/sandboxes', async (request) => {
    const asked = query(listSchema, request);
    return pageFor(control, request, { ...asked, state: ['running'] }).page.map(listedView);
  });
  app.get('/sandboxes/:id', async (request) => {
    const asker = control.askerOf(request);
    const found = control.find(request, 'reader');
    return detailView(found, asker.role === 'reader' ? undefined : await sandboxes.tokensFor(found, asker));
  });

  app.delete('/sandboxes/:id', async (request, reply) => {
    const { record } = control.find(request, 'user');
    await cells.remove(record.tenant, record.id);
    sandboxes.forget(record.id);
    return reply.code(204).send();
  });
  app.post('/sandboxes/:id/timeout', async (request, reply) => {
    const { record } = control.find(request, 'user');
    await cells.change(record.tenant, record.id, { ttlMs: body(timeoutSchema, request).timeout * 1000 });
    return reply.code(204).send();
  });
  app.post('/sandboxes/:id/refreshes', async (request, reply) => {
    await extend(control, control.find(request, 'user'), body(refreshSchema, request).duration ?? 15, false);
    return reply.code(204).send();
  });
  app.post('/sandboxes/:id/pause', async (request, reply) => {
    const { record } = control.find(request, 'user');
    checkMemory(body(pauseSchema, request).memory ?? true);
    if (record.state === 'paused') throw new E2bError(409, `Sandbox "${record.id}" is already paused`);
    await cells.pause(record.tenant, record.id);
    sandboxes.cut(record.id);
    return reply.code(204).send();
  });
  app.post('/sandboxes/:id/resume', async (request, reply) => {
    const { timeout = 15 } = body(connectSchema, request);
    const found = control.find(request, 'user');
    if (found.record.state === 'running')
      throw new E2bError(409, `Sandbox "${found.record.id}" is already running`);
    await cells.resume(found.record.tenant, found.record.id);
    return reply.code(201).send(await opened(request, await extend(control, found, timeout, true)));
  });

  app.put('/sandboxes/:id/network', async (request, reply) => {
    const { record, facts } = control.find(request, 'user');
    const { allow_internet_access, ...network } = body(networkUpdateSchema, request);
    const { runtime } = await sandboxes.open(record.id, request, reply);
    const template = templateFor(cells.templates, facts.template);
    await changeNetwork(runtime, { ...network, allow_internet_access }, template, record.tenant);
    // Others may have opened it meanwhile.
    // A fork must reach no more than this one does now.
    const allowInternetAccess = allow_internet_access !== false;
    await cells.amend(sandboxes.running(record.id).record.id, (current) => ({
      facade: { ...sandboxes.of(current).facts, allowInternetAccess, network },
    }));
    return reply.code(204).send();
  });
  app.get('/sandboxes/metrics', async (request, reply) => {
    const { sandbox_ids: ids } = query(metricsSchema, request);
    const own = listOf(control, request).filter(
      ({ record }) => ids.includes(record.id) && record.state === 'running',
    );
    const measured = own.map(async ({ record: { id } }) => [
      id,
      await measure((await sandboxes.open(id, request, reply)).executor),
    ]);
    return { sandboxes: Object.fromEntries(await Promise.all(measured)) };
  });
  app.get('/sandboxes/:id/metrics', async (request, reply) => {
    const { record } = control.find(request, 'reader');
    if (record.state !== 'running') return [];
    return [await measure((await sandboxes.open(record.id, request, reply)).executor)];
  });
  logRoutes(app, control);
  snapshotRoutes(app, control);
  templateRoutes(app, control);
}

function authenticate(app: FastifyInstance, parts: ServiceParts, sandboxes: Sandboxes): Control {
  const askers = new WeakMap<FastifyRequest, KeyRecord>();
  const askerOf = (request: FastifyRequest) => askers.get(request) as KeyRecord;
  app.addHook('onRequest', (request, reply, done) => {
    askers.set(request, admit(parts, request, reply));
    done();
  });
  return {
    parts,
    sandboxes,
    askerOf,
    find(request, needed) {
      const { id } = request.params as { id: string };
      const asker = askerOf(request);
      const found = sandboxes.find(id);
      const isMine = asker.role === 'operator' || found?.record.tenant === asker.tenant;
      if (found === undefined || !isMine || (asker.cell !== undefined && asker.cell !== found.record.id))
        throw missing(id);
      if (found.record.state === 'lost' || parts.cells.isEnding(found.record.id)) throw missing(id);
      checkRole(
        { ...asker, cell: undefined },
        needed,
        needed === 'user' ? 'change this sandbox' : 'look at it',
      );
      return found;
    },
  };
}

async function create(
  { parts: { cells, checkpoints }, sandboxes }: Control,
  asker: KeyRecord,
  asked: NewSandbox,
  defaultTimeout: number,
  request: FastifyRequest,
): Promise<Sandbox> {
  refuseWhatIsMissing(asked);
  const { id: key, tenant } = asker;
  const snapshot = findSnapshot(checkpoints.saved, asker, asked.templateID);
  const template = templateFor(cells.templates, snapshot?.facts.template ?? asked.templateID);
  const { network, allowInternetAccess } = networkFor(template, asked, tenant);
  const facts: StoredFacts = {
    protocol: 'e2b',
    template: asked.templateID,
    metadata: asked.metadata ?? {},
    secure: asked.secure !== false,
    // Ports are private unless the client asks for the opposite; clients send the token by themselves.
    private: asked.network?.allowPublicTraffic !== true,
    autoPause: asked.autoPause ?? false,
    autoPauseMemory: asked.autoPauseMemory ?? true,
    autoResume: asked.autoResume?.enabled ?? false,
    ...(asked.network != null && { network: asked.network }),
    allowInternetAccess,
    openedBy: [key],
  };
  const wanted = createCellSchema.safeParse({
    template: template.name,
    env: asked.envVars ?? {},
    checkpoint: snapshot?.record.id,
  });
  if (!wanted.success)
    throw new E2bError(400, 'The names of envVars must be letters, digits and underscores.');
  const { 'idempotency-key': again } = request.headers;
  const { record } = await cells.create(
    tenant,
    {
      ...wanted.data,
      ttlMs: (asked.timeout ?? defaultTimeout) * 1000,
      facade: facts,
      ...(facts.autoPause && { onExpiry: 'pause' as const }),
      ...(network !== undefined && { network }),
    },
    typeof again === 'string' ? { key: `e2b:${again}`, fingerprint: request.bodyHash } : undefined,
  );
  return sandboxes.of(record);
}

function refuseWhatIsMissing({
  autoPause,
  autoPauseMemory,
  autoResume,
  volumeMounts,
  mcp,
  iam,
}: NewSandbox): void {
  if (autoPauseMemory === false && (!autoPause || autoResume?.enabled))
    throw new E2bError(400, 'autoPauseMemory: false needs autoPause, and does not go with autoResume.');
  if (autoPauseMemory === false) checkMemory(false);
  const missing = { volumeMounts: volumeMounts?.length, mcp, iam };
  for (const [name, value] of Object.entries(missing))
    if (value !== undefined && value !== null && value !== 0)
      throw new E2bError(400, `This server has no ${name}; make the sandbox without.`);
}

/** A paused cell keeps its processes; there is no way yet to keep its disk alone. */
function checkMemory(memory: boolean): void {
  if (!memory)
    throw new E2bError(
      400,
      'This server pauses sandboxes with their memory only; leave out memory: false (keepMemory, onResume).',
    );
}

/** Connecting never shortens the time of a running sandbox. */
async function extend(
  { parts: { cells } }: Control,
  found: Sandbox,
  seconds: number,
  anew: boolean,
): Promise<Sandbox> {
  const { record } = found;
  const { tenant, id } = record;
  const left = anew ? 0 : (record.expiresAt ?? 0) - Date.now();
  if (seconds * 1000 <= left) return found;
  return { ...found, record: await cells.change(tenant, id, { ttlMs: seconds * 1000 }) };
}

function pageFor(
  { sandboxes, askerOf }: Control,
  request: FastifyRequest,
  asked: z.output<typeof listSchema>,
) {
  const own = listOf({ sandboxes, askerOf }, request);
  const running = own.filter(({ record }) => record.state === 'running').length;
  return { ...listSandboxes(own, asked), running };
}

function listOf(
  { sandboxes, askerOf }: Pick<Control, 'sandboxes' | 'askerOf'>,
  request: FastifyRequest,
): Sandbox[] {
  const asker = askerOf(request);
  checkRole(asker, 'reader', 'list sandboxes');
  return sandboxes
    .all()
    .filter(({ record }) => record.tenant === asker.tenant && (asker.cell ?? record.id) === record.id);
}

function missing(id: string): E2bError {
  return new E2bError(404, `Sandbox "${id}" doesn't exist or you don't have access to it`);
}
