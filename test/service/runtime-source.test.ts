import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { runtimeSource } from '../../src/service/runtime-source.js';
import type { CellRecord } from '../../src/service/service-store.js';

test('what one place says of its cells does not wait for one that fails', async () => {
  const failing = createServer((_request, answer) => answer.writeHead(500).end()).listen(0, '127.0.0.1');
  await once(failing, 'listening');
  const { port } = failing.address() as AddressInfo;
  const warnings: string[] = [];
  const source = runtimeSource({
    config: false,
    templates: new Map(),
    log: (_level, message) => void warnings.push(message),
  });
  const record = (id: string, backend: string, place: object) => ({ id, ref: { backend, place, id } });
  const place = { url: `http://127.0.0.1:${port}`, apiKey: 'a key of the test' };
  const records = [record('unknown', 'service', place), record('gone', 'sandbox', {})];
  const found = await source.find(records as CellRecord[]);
  expect(Object.fromEntries(found)).toEqual({ gone: false });
  expect(warnings).toEqual(['The cells of backend service cannot be listed now.']);
  failing.close();
});
