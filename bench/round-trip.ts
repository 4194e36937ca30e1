/** One answer over a kept connection to a server of Node's own: what HTTP costs without us. */
import { once } from 'node:events';
import { Agent, createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';

export async function startRoundTrip(): Promise<{ go(): Promise<void> } & AsyncDisposable> {
  const server = createServer((_request, response) => response.end('{}')).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  return {
    async go() {
      const [response] = await once(request({ host: '127.0.0.1', port, agent }).end(), 'response');
      response.resume();
      await once(response, 'end');
    },
    async [Symbol.asyncDispose]() {
      agent.destroy();
      server.close();
    },
  };
}
