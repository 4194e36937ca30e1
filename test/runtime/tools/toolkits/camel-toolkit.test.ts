/** What a server answers is untrusted: our reader takes time in proportion to it, whatever it says. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { camelToolkit } from '../../../../src/runtime/tools/toolkits/camel-toolkit.js';

async function answered(status: number, body: unknown): Promise<unknown> {
  const server = createServer((_request, response) => {
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const [tool] = await camelToolkit({ url, tools: ['one'] });
  return tool?.execute({});
}

test('numbers that JSON does not have become null, and text stays text', async () => {
  const output = '{"a": NaN, "b": [-Infinity, 1], "c": "NaN \\" Infinity"}';
  expect(await answered(200, { output })).toEqual({ a: null, b: [null, 1], c: 'NaN " Infinity' });
});

test('long text is read', async () => {
  const text = 'x'.repeat(7 * 1024 * 1024);
  expect(await answered(200, { output: JSON.stringify(text) })).toBe(text);
});

test('text that never ends is refused', async () => {
  await expect(answered(200, { output: `"${'\\"'.repeat(1_000_000)}` })).rejects.toThrow(/JSON/);
});

test('a failure without a reason is told by its status', async () => {
  await expect(answered(500, {})).rejects.toThrow('status 500');
});
