/**
 * The API that starts OpenHands' remote runtimes, on the cells of a service. It hands out the address of an OpenHands
 * server on a cell.
 */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { Mount } from '../../base/http/http-app.js';
import { parse } from '../../base/http/parse-request.js';
import { environmentSchema } from '../../protocol/actions/common.js';
import { WorkcellError } from '../../protocol/index.js';
import { createCellSchema } from '../../protocol/service-wire.js';
import { type Askers, authenticated, cellFor } from '../../service/service-access.js';
import type { ServiceMount, ServiceParts } from '../../service/service-app.js';
import { checkRole } from '../../service/service-keys.js';
import type { CellRecord } from '../../service/service-store.js';
import { openHandsPlugins } from '../openhands-v0/openhands-plugins.js';
import { sendDetail } from './detail.js';
import { runtimeServers } from './runtime-servers.js';
import { nameOf, Runtimes, serverOf, sessionLabel } from './runtimes.js';

/** The path of the API: clients append it to the address of the service for `SANDBOX_REMOTE_RUNTIME_API_URL`. */
export const remoteRuntimePath = '/openhands';

/** The template of its cells. */
const remoteRuntimeTemplate = 'openhands';

export const remoteRuntimeTemplates = { [remoteRuntimeTemplate]: { plugins: openHandsPlugins() } };

/** What clients upload to have an image built, which no service here reads. */
const longestBuild = 64 * 1024 * 1024;

/** Other fields are for clusters, and change nothing here. */
const startBody = z.object({
  session_id: z.string().min(1).max(253),
  command: z.union([z.string(), z.array(z.string())]).optional(),
  environment: environmentSchema.nullish(),
});

const runtimeBody = z.object({ runtime_id: z.string().max(64) });
const batchQuery = z.object({ ids: z.union([z.string(), z.array(z.string()).max(1000)]).default([]) });

export const remoteRuntimeApi: ServiceMount = (parts): Mount => ({
  prefix: remoteRuntimePath,
  routes(scope) {
    scope.setErrorHandler((error, _request, reply) => sendDetail(reply, error, parts.log));
    scope.setNotFoundHandler((request, reply) => {
      const message = `There is no ${request.method} ${request.url.split('?')[0]} here.`;
      sendDetail(reply, new WorkcellError('not-found', message), parts.log);
    });
    const runtimes = new Runtimes(parts, remoteRuntimePath);
    scope.register(async (inner) => {
      const askers = authenticated(inner, parts);
      sessionRoutes(inner, parts, runtimes, askers);
      imageRoutes(inner, askers);
    });
    scope.register(async (inner) => runtimeServers(inner, parts, runtimes), { prefix: '/runtimes/:id' });
  },
});

function sessionRoutes(
  app: FastifyInstance,
  { cells }: ServiceParts,
  runtimes: Runtimes,
  askers: Askers,
): void {
  const asked = (request: FastifyRequest, needed: 'reader' | 'user') => {
    const { runtime_id } = parse(runtimeBody, request.method === 'GET' ? request.params : request.body);
    return cellFor(cells, askers(request), runtime_id, needed);
  };
  const shown = (request: FastifyRequest, record: CellRecord) =>
    runtimes.shown(request, askers(request), record);

  app.get('/health', { config: { open: true } }, async () => ({ status: 'ok' }));

  app.post('/start', async (request) => {
    const asker = askers(request);
    checkRole(asker, 'user', 'start runtimes');
    const { session_id, command = [], environment } = parse(startBody, request.body);
    const name = nameOf(session_id);
    // A client that could not use the previous runtime starts another one for the same session.
    await cells.remove(asker.tenant, name).catch(ignoreMissing);
    const cell = createCellSchema.parse({
      name,
      template: remoteRuntimeTemplate,
      env: environment ?? {},
      labels: { [sessionLabel]: session_id, ...serverOf([command].flat().join(' ')) },
    });
    return shown(request, (await cells.create(asker.tenant, cell)).record);
  });

  app.get('/sessions/:session', async (request) => {
    const asker = askers(request);
    const { session } = request.params as { session: string };
    const record = orMissing(() => cellFor(cells, asker, nameOf(session), 'user'));
    if (record !== undefined) return shown(request, record);
    throw new WorkcellError('cell-not-found', `The session ${JSON.stringify(session)} has no runtime.`);
  });

  app.get('/sessions/batch', async (request) => {
    const { ids } = parse(batchQuery, request.query);
    const wanted = new Set([ids].flat());
    const all = runtimes.all(askers(request));
    return all
      .filter(({ labels }) => wanted.has(labels[sessionLabel] ?? ''))
      .map((record) => shown(request, record));
  });

  app.get('/list', async (request) => ({
    runtimes: runtimes.all(askers(request)).map((record) => shown(request, record)),
  }));

  app.get('/runtime/:runtime_id', async (request) => shown(request, asked(request, 'user')));

  app.post('/pause', async (request) => {
    const { tenant, id } = asked(request, 'user');
    return shown(request, await cells.pause(tenant, id));
  });

  app.post('/resume', async (request) => {
    const { tenant, id } = asked(request, 'user');
    return shown(request, await cells.resume(tenant, id));
  });

  app.post('/stop', async (request) => {
    const record = asked(request, 'user');
    await cells.remove(record.tenant, record.id);
    return { ...shown(request, record), status: 'stopped', pod_status: 'not found' };
  });
}

/** The template decides what a runtime runs on, so every image that a client names exists, and we build none. */
function imageRoutes(app: FastifyInstance, askers: Askers): void {
  const since = new Date().toISOString();
  const checked = (request: FastifyRequest) => checkRole(askers(request), 'user', 'ask for images');

  app.get('/registry_prefix', async (request) => {
    checked(request);
    return { registry_prefix: 'workcell' };
  });

  app.get('/image_exists', async (request) => {
    checked(request);
    return { exists: true, image: { upload_time: since, image_size_bytes: 0 } };
  });

  // We do not read the upload; a client that still sends it would miss the answer.
  app.addContentTypeParser('multipart/form-data', (_request, payload, done) => {
    let left = longestBuild;
    payload.on('data', (chunk: Buffer) => {
      left -= chunk.length;
      if (left >= 0) return;
      payload.pause().removeAllListeners('data');
      done(
        new WorkcellError('request-too-large', `An upload may have ${longestBuild} bytes here.`, {
          details: { limitBytes: longestBuild },
        }),
      );
    });
    payload.once('end', () => done(null, undefined));
    payload.once('error', done);
  });
  // Otherwise the connection would take in the rest of it.
  app.addHook('onError', async (_request, reply, error) => {
    if (WorkcellError.isInstance(error) && error.code === 'request-too-large')
      void reply.header('connection', 'close');
  });

  for (const [method, url] of [
    ['POST', '/build'],
    ['GET', '/build_status'],
  ] as const)
    app.route({
      method,
      url,
      // Before anything of a body is taken.
      onRequest: async (request) => checked(request),
      async handler() {
        throw new WorkcellError(
          'capability-unsupported',
          `This service builds no images: its template "${remoteRuntimeTemplate}" says what runtimes run on. Ask its operator, or do not force a build.`,
        );
      },
    });
}

function orMissing<Result>(find: () => Result): Result | undefined {
  try {
    return find();
  } catch (error) {
    return ignoreMissing(error);
  }
}

function ignoreMissing(error: unknown): undefined {
  if (!WorkcellError.isInstance(error) || error.code !== 'cell-not-found') throw error;
}
