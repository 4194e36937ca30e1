/** An OpenHands server for each used cell, below the address that the API hands out. */
import { randomBytes } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { createHttpApp, mount } from '../../base/http/http-app.js';
import type { Runtime } from '../../index.js';
import { WorkcellError } from '../../protocol/index.js';
import { whenOver } from '../../service/service-access.js';
import type { ServiceParts } from '../../service/service-app.js';
import type { CellRecord } from '../../service/service-store.js';
import { openHandsV0 } from '../openhands-v0/openhands-v0-app.js';
import { openHandsV1 } from '../openhands-v1/facade.js';
import { CellExecutor } from './cell-executor.js';
import { isV1, type Runtimes, sessionLabel } from './runtimes.js';

const keyHeader = 'x-session-api-key';

/** How long to wait for what a server ends in its cell. */
const closingMs = 5000;

interface RuntimeServer {
  readonly executor: CellExecutor;
  readonly app: Promise<FastifyInstance>;
  /** Opens it; requests that bring a session key get this one instead. */
  readonly key: string;
}

export function runtimeServers(
  scope: FastifyInstance,
  { cells, keys, requests }: ServiceParts,
  runtimes: Runtimes,
): void {
  /** One for each cell for as long as there is the cell: what it started there is its to end. */
  const servers = new Map<string, RuntimeServer>();
  let stopListening: (() => void) | undefined;
  const serverFor = (runtime: Runtime, record: CellRecord) => {
    const known = servers.get(record.id);
    const server = known ?? start(runtime, record);
    server.executor.current = runtime;
    if (known !== undefined) return known;
    servers.set(record.id, server);
    // The next request tries again.
    server.app.catch(() => servers.delete(record.id));
    stopListening ??= cells.listen((change) => {
      if (change.isGone) void close(change.record.id);
    });
    return server;
  };
  const close = async (id: string) => {
    const server = servers.get(id);
    if (server === undefined) return;
    servers.delete(id);
    // A paused cell would wake, and in one that is gone there is nothing to end.
    if (cells.byId(id)?.state !== 'running') server.executor.current = undefined;
    const closed = server.app.then((app) => app.close()).catch(() => {});
    await Promise.race([closed, setTimeout(closingMs, undefined, { ref: false })]);
  };
  scope.addHook('onClose', async () => {
    stopListening?.();
    await Promise.all([...servers.keys()].map(close));
  });

  // Answer without a key, and without waking a cell: clients ask before they have one.
  for (const path of ['/alive', '/health'])
    scope.get(path, async (request) => {
      recordOf(request);
      return { status: 'ok' };
    });

  scope.all('/*', {
    async onRequest(request, reply) {
      const record = recordOf(request);
      const key = runtimes.keyBehind(record.id, request.headers[keyHeader]);
      if (key === undefined)
        throw new WorkcellError('unauthorized', `Send the key of this runtime as ${keyHeader}.`);
      const { socket } = request.raw;
      const untrack = keys.track(key, () => socket.destroy());
      whenOver(request, reply, untrack);
      whenOver(request, reply, requests.enterCell(record, key));
      const { runtime, done } = await cells.use(record.tenant, record.id);
      whenOver(request, reply, done);
      const server = serverFor(runtime, record);
      const app = await server.app;
      const { raw } = request;
      raw.headers[keyHeader] = server.key;
      raw.url = `/${(raw.url ?? '').split('/').slice(4).join('/')}`;
      reply.hijack();
      app.routing(raw, reply.raw);
    },
    handler: () => {},
  });

  function recordOf(request: FastifyRequest): CellRecord {
    const { id } = request.params as { id: string };
    const record = cells.byId(id);
    if (record !== undefined && Object.hasOwn(record.labels, sessionLabel)) return record;
    throw new WorkcellError('cell-not-found', `There is no runtime ${JSON.stringify(id)}.`);
  }
}

function start(runtime: Runtime, record: CellRecord): RuntimeServer {
  const executor = new CellExecutor();
  executor.current = runtime;
  const key = randomBytes(24).toString('base64url');
  const { id, workspace } = runtime;
  const app = async () => {
    // The service has checked source and key before a request comes here.
    const app = createHttpApp({ access: { checkSource() {}, checkToken() {} } });
    const v1 = openHandsV1({ sessionApiKeys: [key] });
    mount(app, [
      isV1(record)
        ? {
            prefix: '',
            sockets: true,
            routes: (scope) => v1(scope, { executor: () => executor, id, workspace }),
          }
        : { prefix: '', routes: openHandsV0(executor, { workingDirectory: workspace }) },
    ]);
    await app.ready();
    return app;
  };
  return { executor, app: app(), key };
}
