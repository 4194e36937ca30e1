/** What a server answers is untrusted: our reader takes time in proportion to it, whatever it says. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { camelToolkit } from '../../../../src/runtime/tools/toolkits/camel-toolkit.js';

async function serverThatSays(status: number, text: string): Promise<string> {
  const server = createServer((_request, response) => {
    response.writeHead(status, { 'content-type': 'application/json' }).end(text);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function answered(status: number, body: unknown): Promise<unknown> {
  const [tool] = await camelToolkit({
    url: await serverThatSays(status, JSON.stringify(body)),
    tools: ['one'],
  });
  return tool?.execute({});
}

test('the names of tools are those that the server tells', async () => {
  const url = await serverThatSays(200, JSON.stringify({ endpoints: ['one', 'two'] }));
  expect((await camelToolkit({ url })).map(({ name }) => name)).toEqual(['one', 'two']);
});

test.each([
  ['too long', JSON.stringify({ endpoints: ['one'], more: 'x'.repeat(1024 * 1024) }), /too long/],
  ['of too many names', JSON.stringify({ endpoints: Array(20_000).fill('') }), /values/],
  ['nested too deeply', `{"endpoints":[],"more":${'['.repeat(20)}${']'.repeat(20)}}`, /levels/],
])('a list of tools %s is refused', async (_what, text, message) => {
  const url = await serverThatSays(200, text);
  await expect(camelToolkit({ url })).rejects.toThrow(message);
});

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
