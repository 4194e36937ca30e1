/** Failures of the published clients in our words. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Daytona } from '@daytonaio/sdk';
import Runloop from '@runloop/api-client';
import { Sandbox } from 'e2b';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { vendorError } from '../../../src/backends/vendor/vendor-errors.js';

/** Takes requests, and answers none. */
const silent = createServer(() => {});
let url: string;
beforeAll(async () => {
  silent.listen(0, '127.0.0.1');
  await once(silent, 'listening');
  url = `http://127.0.0.1:${(silent.address() as AddressInfo).port}`;
});
afterAll(() => {
  silent.closeAllConnections();
  silent.close();
});

const limitMs = 50;
const asks: Readonly<Record<string, () => Promise<unknown>>> = {
  E2B: () => Sandbox.create({ apiKey: 'a-key', apiUrl: url, requestTimeoutMs: limitMs }),
  Daytona: () =>
    new Daytona({
      apiKey: 'a-key',
      apiUrl: url,
      target: 'us',
      requestTimeoutMs: limitMs,
      useDeprecatedPolling: true,
    }).get('x'),
  Runloop: () =>
    new Runloop({
      bearerToken: 'a-key',
      baseURL: url,
      http2: false,
      timeout: limitMs,
      maxRetries: 0,
    }).devboxes.retrieve('x'),
};

test.for(Object.keys(asks))('a client that gives up waiting for %s says timed-out', async (vendor) => {
  const error = await asks[vendor]?.().then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expect(vendorError(vendor, error, undefined)).toMatchObject({ code: 'timed-out' });
});

test('other failures without a status do not', async () => {
  const refused = await fetch('http://127.0.0.1:1/').catch((error: unknown) => error);
  expect(vendorError('Runloop', refused, undefined)).toMatchObject({ code: 'backend-unavailable' });
  expect(vendorError('Runloop', new Error('x'), 500)).toMatchObject({ code: 'backend-unavailable' });
});
