/** An OpenHands server for each used cell, below the address that the API hands out. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { createHttpApp, mount } from '../../base/http/http-app.js';
import type { Runtime } from '../../index.js';
import { WorkcellError } from '../../protocol/index.js';
import { whenOver } from '../../service/service-access.js';
import type { ServiceParts } from '../../service/service-app.js';
import type { CellRecord } from '../../service/service-store.js';
import { openHandsV0 } from '../openhands-v0/openhands-v0-app.js';
import { openHandsV1 } from '../openhands-v1/facade.js';
import { isV1, type Runtimes, sessionLabel } from './runtimes.js';

const keyHeader = 'x-session-api-key';

export function runtimeServers(
  scope: FastifyInstance,
  { cells, requests }: ServiceParts,
  runtimes: Runtimes,
): void {
  const servers = new WeakMap<Runtime, Promise<FastifyInstance>>();
  const serverFor = (runtime: Runtime, record: CellRecord, key: string) => {
    const known = servers.get(runtime);
    if (known !== undefined) return known;
    const started = start(runtime, record, key);
    servers.set(runtime, started);
    // The next request tries again.
    started.catch(() => servers.delete(runtime));
    return started;
  };

  // Answer without a key, and without waking a cell: clients ask before they have one.
  for (const path of ['/alive', '/health'])
    scope.get(path, async (request) => {
      recordOf(request);
      return { status: 'ok' };
    });

  scope.all('/*', {
    async onRequest(request, reply) {
      const record = recordOf(request);
      const key = request.headers[keyHeader];
      if (typeof key !== 'string' || !runtimes.mayUse(record.id, key))
        throw new WorkcellError('unauthorized', `Send the key of this runtime as ${keyHeader}.`);
      whenOver(request, reply, requests.enter(record));
      const { runtime, done } = await cells.use(record.tenant, record.id);
      whenOver(request, reply, done);
      const server = await serverFor(runtime, record, key);
      const { raw } = request;
      raw.url = `/${(raw.url ?? '').split('/').slice(4).join('/')}`;
      reply.hijack();
      server.routing(raw, reply.raw);
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

async function start(runtime: Runtime, record: CellRecord, key: string): Promise<FastifyInstance> {
  const { id, workspace } = runtime;
  // The service has checked source and key before a request comes here.
  const app = createHttpApp({ access: { checkSource() {}, checkToken() {} } });
  const v1 = openHandsV1({ sessionApiKeys: [key] });
  mount(app, [
    isV1(record)
      ? {
          prefix: '',
          sockets: true,
          routes: (scope) => v1(scope, { executor: () => runtime, id, workspace }),
        }
      : { prefix: '', routes: openHandsV0(runtime, { workingDirectory: workspace }) },
  ]);
  await app.ready();
  return app;
}
