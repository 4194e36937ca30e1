/** What a sandbox answers on the port of its own server: health, variables, figures, processes and files. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { measure } from '../control/measure.js';
import { E2bError, RpcError, sendE2bError } from '../e2b-errors.js';
import type { OpenSandbox, Sandboxes } from '../e2b-sandboxes.js';
import { checkFileAccess, checkToken } from '../sandbox-access.js';
import { acceptEnvelopes, sendRpcError } from './connect-rpc.js';
import { fileRoutes } from './envd-files.js';
import { checkUserOf } from './envd-user.js';
import { filesystemService } from './filesystem-service.js';
import { processService } from './process-service.js';
import { SignatureSearch } from './signature-search.js';

/** `at`: the constraint of routes for this port. */
export function envdRoutes(
  app: FastifyInstance,
  sandboxes: Sandboxes,
  at: object,
  idOf: (request: FastifyRequest) => string,
): void {
  const opened = new WeakMap<FastifyRequest, OpenSandbox>();
  const sandboxOf = (request: FastifyRequest) => opened.get(request) as OpenSandbox;

  app.get('/health', at, async (request, reply) => {
    sandboxes.running(idOf(request));
    return reply.code(204).send();
  });

  app.register(async (scope) => {
    scope.setErrorHandler((error, request, reply) => {
      if (error instanceof E2bError) sendE2bError(reply, error);
      else if (request.routeOptions.url?.includes('.') === true) sendRpcError(reply, error, sandboxes.log);
      else sendE2bError(reply, error, sandboxes.log);
    });
    acceptEnvelopes(scope);
    scope.addHook('onRequest', async (request, reply) => {
      checkToken(request, reply, sandboxes, sandboxes.running(idOf(request)));
      checkUserOf(request);
      opened.set(request, await sandboxes.open(idOf(request), request, reply));
    });
    processService(scope, sandboxOf, at);
    filesystemService(scope, sandboxOf, at);
    scope.get('/envs', at, async (request) => {
      const { variables } = await sandboxOf(request).executor.execute<'get_env'>({ action: 'get_env' });
      return variables;
    });
    scope.get('/metrics', at, async (request) => {
      const { cpuCount, cpuUsedPct, memTotal, memUsed, memCache, diskUsed, diskTotal, timestampUnix } =
        await measure(sandboxOf(request).executor);
      return {
        ts: timestampUnix,
        cpu_count: cpuCount,
        cpu_used_pct: cpuUsedPct,
        mem_total: memTotal,
        mem_used: memUsed,
        mem_cache: memCache,
        disk_used: diskUsed,
        disk_total: diskTotal,
      };
    });
  });

  app.register(async (scope) => {
    scope.setErrorHandler((error, _request, reply) =>
      sendE2bError(reply, error instanceof RpcError ? toHttp(error) : error, sandboxes.log),
    );
    fileRoutes(
      scope,
      (request, reply, query, operation) => {
        checkFileAccess(request, reply, sandboxes, sandboxes.running(idOf(request)), query, operation);
        return sandboxes.open(idOf(request), request, reply);
      },
      at,
    );
    const search = new SignatureSearch(() => sandboxes.all());
    // A signed address names no sandbox: its signature tells whose token made it.
    fileRoutes(
      scope,
      async (request, reply, query, operation) => {
        if (query.signature === undefined) throw new E2bError(401, 'missing signature query parameter');
        const found = await search.find(query, operation, request.ip);
        if (found === undefined) throw new E2bError(401, 'invalid signature');
        checkFileAccess(request, reply, sandboxes, found, query, operation);
        return sandboxes.open(found.record.id, request, reply);
      },
      {},
    );
  });
}

function toHttp(error: RpcError): E2bError {
  return new E2bError(error.code === 'unauthenticated' ? 401 : 400, error.message);
}
