/** The reader of TLS hellos takes no more time than an honest client needs. */
import { expect, test } from 'vitest';
import { parseClientHello } from '../../../src/runtime/network/client-hello.js';
import { clientHello } from './open-gateway.js';

test('a hello in more records than any client makes is none', () => {
  const body = clientHello('web.test').subarray(5);
  const records = [...body].map((byte) => Buffer.from([22, 3, 1, 0, 1, byte]));
  expect(parseClientHello(Buffer.concat(records))).toBeUndefined();
  expect(parseClientHello(Buffer.concat(records.slice(0, 16)))).toBe('more');
  expect(parseClientHello(clientHello('web.test'))).toEqual({ serverName: 'web.test' });
});
