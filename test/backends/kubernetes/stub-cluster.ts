/** An API server of a few lines, for answers that a healthy cluster does not give. */
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';

export interface StubRequest {
  readonly method: string;
  readonly path: string;
  readonly token: string | undefined;
  readonly query: URLSearchParams;
  readonly body:
    | { readonly metadata?: { readonly annotations?: object }; readonly preconditions?: object }
    | undefined;
}

export interface StubCluster {
  readonly kubeconfig: string;
  readonly requests: StubRequest[];
  close(): void;
}

/** As a cluster refuses, by status. */
const reasons: Readonly<Record<number, string>> = {
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'NotFound',
  409: 'AlreadyExists',
  410: 'Expired',
  422: 'Invalid',
  500: 'InternalError',
};

/** A refusal for which the status is not enough. */
export class StubRefusal {
  constructor(
    readonly code: number,
    readonly reason: string | undefined = reasons[code],
    readonly message = 'no',
  ) {}
}

/** `answer` returns the body of the answer, or a status for a refusal, or nothing when it answers itself. */
export async function stubCluster(
  answer: (request: StubRequest, response: ServerResponse) => object | number | undefined,
  user: object = {},
): Promise<StubCluster> {
  const requests: StubRequest[] = [];
  const server = createServer(async (incoming, response) => {
    const { pathname, searchParams } = new URL(incoming.url ?? '', 'http://stub');
    const sent = await text(incoming);
    const request = {
      method: incoming.method ?? '',
      path: pathname,
      token: incoming.headers.authorization,
      query: searchParams,
      body: sent === '' ? undefined : JSON.parse(sent),
    };
    requests.push(request);
    const result = answer(request, response);
    if (result === undefined) return;
    const said = typeof result === 'number' ? new StubRefusal(result) : result;
    if (said instanceof StubRefusal) response.statusCode = said.code;
    response.end(JSON.stringify(said));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const directory = mkdtempSync(join(tmpdir(), 'kubeconfig-'));
  const kubeconfig = join(directory, 'config');
  const { port } = server.address() as AddressInfo;
  const config = {
    'current-context': 'c',
    clusters: [{ name: 'c', cluster: { server: `http://127.0.0.1:${port}` } }],
    users: [{ name: 'u', user }],
    contexts: [{ name: 'c', context: { cluster: 'c', user: 'u' } }],
  };
  writeFileSync(kubeconfig, JSON.stringify(config), { mode: 0o600 });
  return {
    kubeconfig,
    requests,
    close() {
      server.close();
      server.closeAllConnections();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

/** Has nothing, and keeps every watch open. */
export function emptyCluster(
  { method, query }: StubRequest,
  response: ServerResponse,
): object | number | undefined {
  if (method !== 'GET') return {};
  if (!query.has('watch')) return { metadata: { resourceVersion: '1' }, items: [] };
  response.flushHeaders();
  return undefined;
}
