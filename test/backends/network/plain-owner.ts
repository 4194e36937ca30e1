/** Starts as a user without privileges: tries its rules in a cell, prints the results, and waits until we kill it. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createRuntime } from '../../../src/index.js';

const server = createServer((_request, response) => response.end('hello'));
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
const hosts = { 'web.test': `127.0.0.1:${(server.address() as AddressInfo).port}` };
const runtime = await createRuntime({
  backend: 'sandbox',
  config: false,
  network: { allow: ['web.test'], hosts },
});
const { output: allowed } = await runtime.run('curl -sS http://web.test/');
const { output: refused } = await runtime.run('curl -sS http://evil.test/');
const { exitCode: power } = await runtime.run('ip link set lo down 2>/dev/null && exit 0; (exit 1)');
process.stdout.write(`${JSON.stringify({ allowed, refused: JSON.parse(refused).error, power })}\n`);
