/**
 * Works in a cell on another machine. There:
 *   npx workcell executor --backend sandbox --listen 127.0.0.1:8700 --token-file token
 * Here, with the token and a tunnel (ssh -fNL 8700:127.0.0.1:8700 machine):
 *   CELL_TOKEN_FILE=token npx tsx remote-client.ts
 */
import assert from 'node:assert/strict';
import { createRuntime } from 'workcell';
import { rules } from 'workcell/security';

const { CELL_URL: url = 'http://127.0.0.1:8700', CELL_TOKEN_FILE: tokenFile = 'token' } = process.env;

// The policy and the record are yours: they stay on this machine.
await using runtime = await createRuntime({ backend: 'remote', url, tokenFile, guards: [rules()] });
console.log(`${url}: isolation ${runtime.isolation.tier}, workspace ${runtime.workspace}`);

// Files go there as they are, and come back.
await runtime.files.upload(Buffer.from('3\n1\n2\n'), 'numbers');
const { exitCode } = await runtime.run('sort -n numbers > sorted');
assert.equal(exitCode, 0);
const { content } = await runtime.read('sorted');
assert.equal(content, '1\n2\n3\n');

// A server in the cell answers at a port of this machine.
const server =
  "require('node:http').createServer((_, answer) => answer.end('from there')).listen(8000, () => console.log('up'))";
const { id } = await runtime.processes.start(['node', '-e', server]);
await new Promise<void>((resolve, reject) => {
  runtime.processes.wait(id, { onOutput: () => resolve() }).then(
    ({ stderr }) => reject(new Error(stderr)),
    () => {},
  );
});
const { url: address } = await runtime.ports.forward(8000);
const page = await (await fetch(address)).text();
assert.equal(page, 'from there');
console.log(`${address}: ${page}`);
