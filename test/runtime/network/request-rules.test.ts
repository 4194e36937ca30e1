/** Ways to ask a server for another request than the one whose method and path were judged. */
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { describe, expect, test } from 'vitest';
import { parseHost } from '../../../src/protocol/network/host.js';
import { networkRulesSchema } from '../../../src/protocol/network/network-schema.js';
import { RequestPolicy } from '../../../src/runtime/network/opened/request-policy.js';
import { openGateway, openWeb, readAll } from './open-gateway.js';

const host = parseHost('web.test') as { name: string };
const limited = [{ host: 'web.test', methods: ['GET', 'POST'], paths: ['/items/**', '/items'] }];

const refusal = (requests: object[], method: string, path: string, ...rawHeaders: string[]) =>
  new RequestPolicy(networkRulesSchema.parse({ requests }).requests).refuses(host, 80, {
    method,
    path,
    rawHeaders,
  });

test.each([
  'X-HTTP-Method-Override',
  'X_HTTP_METHOD_OVERRIDE',
  'x-http_method-override',
  'X-HTTP-Method',
  'X-Method-Override',
  'X_METHOD',
  'X-Original-URL',
  'X_Original_Url',
  'X-Rewrite-URL',
])('no header names another method or path: %s', (name) => {
  expect(refusal(limited, 'POST', '/items', name, '/other')).toContain('header');
  expect(refusal(limited, 'POST', '/items', `${name}-Note`, '/other')).toBeUndefined();
});

test.each([
  ['/items?_method=DELETE', false],
  ['/items?a=b&_METHOD=DELETE', false],
  ['/items?a;_method=DELETE', false],
  ['/items?%5Fm%65thod=DELETE', false],
  ['/items?+_method=DELETE', false],
  ['/items?.method=DELETE', false],
  ['/items?_method%00x=DELETE', false],
  ['/items?_method[]=DELETE', false],
  ['/items?_method', false],
  ['/items?method=DELETE', true],
  ['/items?x_method=DELETE', true],
  ['/items?a=_method', true],
  ['/items?_methods=all', true],
])('a query names no other method: %s passes: %s', (path, passes) => {
  expect(refusal(limited, 'POST', path) === undefined).toBe(passes);
  // A rule without methods allows them all.
  expect(refusal([{ host: 'web.test', paths: ['/items'] }], 'POST', path)).toBeUndefined();
});

describe('a form names no other method', () => {
  const seen: string[] = [];
  const post = async (type: string, given: string[], extra = '', connection = 'close') => {
    const pieces = given.map((piece) => piece.replace('LONG', 'b'.repeat(100_000)));
    seen.length = 0;
    const place = await openWeb(async (request, response) => {
      const body = await text(request).catch(() => undefined);
      if (body !== undefined) seen.push(body);
      response.end('came');
    });
    const { dial } = await openGateway({ requests: limited, hosts: { 'web.test': place } });
    const socket = await dial('web.test', 80);
    const length = Buffer.byteLength(pieces.join(''));
    const named = type === '' ? '' : `Content-Type: ${type}\r\n`;
    const head = `POST /items HTTP/1.1\r\nHost: web.test\r\nConnection: ${connection}\r\n${named}${extra}Content-Length: ${length}\r\n\r\n`;
    const answer = readAll(socket);
    const drained = async (bytes: string) => void (socket.write(bytes) || (await once(socket, 'drain')));
    for (const piece of [head, ...pieces]) {
      await drained(piece);
      // In segments of their own.
      await new Promise((resolve) => setImmediate(resolve));
    }
    return answer;
  };
  const urlencoded = 'application/x-www-form-urlencoded';
  const multipart = 'multipart/form-data; boundary=b';
  const part = (name: string) => `--b\r\nContent-Disposition: form-data; ${name}\r\n\r\nDELETE\r\n--b--\r\n`;

  test.each([
    [urlencoded, ['_method=DELETE']],
    [urlencoded, ['a=b&_method=DELETE']],
    [urlencoded, ['a=b&_met', 'hod=DEL', 'ETE']],
    [urlencoded, ['a=b&%5', 'Fmethod=DELETE']],
    [`${urlencoded}; charset=utf-8`, ['a=', 'LONG', '&_method=DELETE']],
    // Some servers take a body of no type for a form.
    ['', ['_method=DELETE']],
    [multipart, [part('name="_method"')]],
    [multipart, [part('name=_method')]],
    [multipart, part('filename=a; name="_method"').split(/(?<=_me)/)],
    // Servers take escapes away, and spaces.
    [multipart, [part('name="\\_method"')]],
    [multipart, [part('name="_m\\ethod"')]],
    [multipart, [part(`name=${' '.repeat(9)}"_method"`)]],
    [multipart, [part(`name="${' '.repeat(9)}_method"`)]],
    [multipart, part(`name = "${' '.repeat(300)}CUT${' '.repeat(300)}_method"`).split('CUT')],
    [multipart, [part("name*=utf-8''%5Fmethod")]],
    [multipart, [part('name*0="_met"; name*1="hod"')]],
    [multipart, ['--b\r\nContent-ID: <_method>\r\n\r\nDELETE\r\n--b--\r\n']],
  ])('%s %j', async (type, pieces) => {
    expect(await post(type, pieces)).toContain('403 Forbidden');
    expect(seen).toEqual([]);
  });

  test.each([
    ['a type that does not leave', 'Content-Type: application/json\r\n', 'close, Content-Type'],
    ['a name that servers drop', 'Content_Type: text/plain\r\n'],
    ['another behind it', 'Content-Type: text/plain\r\nContent_Type: text/plain\r\n'],
    ['none, twice', 'Content-Type:\r\nContent-Type: \r\n'],
    ['one and none', 'Content-Type: text/plain\r\nContent-Type:\r\n'],
    ['what is no type', 'Content-Type: ,\r\n'],
  ])('whatever its type seems to be: %s', async (_what, headers, connection = 'close') => {
    expect(await post('', ['_method=DELETE'], headers, connection)).toContain('403 Forbidden');
    expect(seen).toEqual([]);
  });

  test('nor one that is compressed, which nobody reads', async () => {
    expect(await post(urlencoded, ['\x1f\x8b'], 'Content-Encoding: gzip\r\n')).toContain('403 Forbidden');
    expect(seen).toEqual([]);
  });

  test.each([
    [urlencoded, ['a=_method&method=DELETE&x_method=1', '&my_method', '=2']],
    [multipart, [part('name="my_method"')]],
    [multipart, [part('name="a _method"; filename="\\\\name= my_method"')]],
    ['application/json', ['{"text":"&_method=DELETE"}']],
    ['text/plain', ['a=b&_method=DELETE']],
  ])('its neighbours pass: %s %j', async (type, pieces) => {
    expect(await post(type, pieces)).toContain('came');
    expect(seen).toEqual([pieces.join('')]);
  });
});
