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

/** `answer` returns the body of the answer, or a status for a refusal, or nothing when it answers itself. */
export async function stubCluster(
  answer: (request: StubRequest, response: ServerResponse) => object | number | undefined,
): Promise<StubCluster> {
  const requests: StubRequest[] = [];
  const server = createServer(async (incoming, response) => {
    const { pathname, searchParams } = new URL(incoming.url ?? '', 'http://stub');
    const said = await text(incoming);
    const request = {
      method: incoming.method ?? '',
      path: pathname,
      query: searchParams,
      body: said === '' ? undefined : JSON.parse(said),
    };
    requests.push(request);
    const result = answer(request, response);
    if (result === undefined) return;
    if (typeof result === 'number') response.statusCode = result;
    response.end(JSON.stringify(typeof result === 'number' ? { reason: 'Stub', message: 'no' } : result));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const directory = mkdtempSync(join(tmpdir(), 'kubeconfig-'));
  const kubeconfig = join(directory, 'config');
  const { port } = server.address() as AddressInfo;
  const config = {
    'current-context': 'c',
    clusters: [{ name: 'c', cluster: { server: `http://127.0.0.1:${port}` } }],
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
