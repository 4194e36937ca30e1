/** Input that a client streams to a process: messages in envelopes, which come as the network cuts them. */
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { Sandbox } from 'e2b';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type E2bService, startE2bService } from './e2b-service.js';

let service: E2bService;
let sandbox: Sandbox;
beforeAll(async () => {
  service = await startE2bService();
  sandbox = await Sandbox.create(service.connection);
});
afterAll(async () => {
  await sandbox.kill();
  await service.close();
});

function envelope(value: object): Buffer {
  const text = JSON.stringify(value);
  const head = Buffer.alloc(5);
  head.writeUInt32BE(Buffer.byteLength(text), 1);
  return Buffer.concat([head, Buffer.from(text)]);
}

/** Sends pieces one by one, and gives the messages of the answer. */
async function stream(pieces: Iterable<Uint8Array>): Promise<unknown[]> {
  const { envdAccessToken = '' } = sandbox as unknown as { envdAccessToken?: string };
  const outgoing = request(`${service.url}/process.Process/StreamInput`, {
    method: 'POST',
    headers: {
      'e2b-sandbox-id': sandbox.sandboxId,
      'x-access-token': envdAccessToken,
      'content-type': 'application/connect+json',
    },
  });
  const answered = once(outgoing, 'response') as Promise<[IncomingMessage]>;
  for (const piece of pieces) await new Promise((resolve) => outgoing.write(piece, resolve));
  outgoing.end();
  const [answer] = await answered;
  let rest = await buffer(answer);
  const messages: unknown[] = [];
  for (; rest.length > 0; rest = rest.subarray(5 + rest.readUInt32BE(1)))
    messages.push(JSON.parse(rest.subarray(5, 5 + rest.readUInt32BE(1)).toString()));
  return messages;
}

const dataOf = (text: string) => ({ data: { input: { stdin: Buffer.from(text).toString('base64') } } });

test('arrives in order, however it is cut', async () => {
  const cat = await sandbox.commands.run('cat', { background: true, stdin: true });
  const start = { start: { process: { pid: cat.pid } } };
  const whole = Buffer.concat([start, dataOf('one '), { keepalive: {} }, dataOf('two')].map(envelope));
  const bytes = Array.from(whole, (byte) => Uint8Array.of(byte));
  expect(await stream(bytes)).toEqual([{}, {}]);
  expect(await stream([Buffer.concat([start, dataOf(' three')].map(envelope))])).toEqual([{}, {}]);
  await cat.closeStdin();
  expect(await cat.wait()).toMatchObject({ stdout: 'one two three' });
});

test('is refused when it is none, and the service goes on', async () => {
  const refused = (code: string) => [{ error: { code, message: expect.any(String) } }];
  const large = Buffer.alloc(5);
  large.writeUInt32BE(2 ** 31, 1);
  const unknown = envelope({ start: { process: { pid: 4_000_000 } } });
  expect(await stream([unknown])).toEqual(refused('not_found'));
  expect(await stream([large])).toEqual(refused('invalid_argument'));
  expect(await stream([envelope(dataOf('before a start'))])).toEqual(refused('invalid_argument'));
  expect(await stream([unknown.subarray(0, 9)])).toEqual(refused('invalid_argument'));
  expect(await sandbox.commands.run('echo on')).toMatchObject({ stdout: 'on\n' });
});
