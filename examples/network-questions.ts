/** An agent that may reach one host, and asks for another. The servers are two of this program's own. */
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createRuntime } from 'workcell';

const server = createServer((request, response) => response.end(`${request.headers.host} answers\n`));
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
const address = `127.0.0.1:${(server.address() as AddressInfo).port}`;

const questions: string[] = [];
const runtime = await createRuntime({
  backend: 'sandbox',
  network: {
    allow: ['packages.example.com:80'],
    ask: true,
    // Where the names lead to; without this the gateway asks the resolver of your machine.
    hosts: {
      'packages.example.com': address,
      'docs.example.com': address,
      'elsewhere.example.com': address,
    },
  },
  // A person decides here. `cell`: as long as this cell lives; `once`: this connection.
  askNetwork: async ({ host }) => {
    questions.push(host);
    return host === 'docs.example.com' ? 'cell' : 'deny';
  },
});

for (const host of ['packages', 'docs', 'docs', 'elsewhere']) {
  const { output, exitCode } = await runtime.run(
    `curl --silent --show-error --fail http://${host}.example.com/`,
  );
  console.log(`${host}: ${output.trim()}`);
  assert.equal(exitCode === 0, host !== 'elsewhere');
}
assert.deepEqual(questions, ['docs.example.com', 'elsewhere.example.com']);

await runtime.close();
server.close();
