/** What a server gets of a request: once, and with the host that was judged. */
import { once } from 'node:events';
import { describe, expect, test } from 'vitest';
import { openGateway, openTcp, readAll } from './open-gateway.js';

describe('a request on a kept connection that the server cuts', () => {
  const cutting = async (method: string) => {
    const seen: string[] = [];
    const place = await openTcp((socket) => {
      let requests = 0;
      socket.on('data', (bytes) => {
        seen.push(String(bytes).split(' ')[0] ?? '');
        // The server is gone when the second request of its first connection has come.
        if (++requests === 2) return void socket.resetAndDestroy();
        socket.write('HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\ncame');
      });
    });
    const { dial } = await openGateway({ allow: ['web.test'], hosts: { 'web.test': place } });
    const socket = await dial('web.test', 80);
    socket.write('GET /first HTTP/1.1\r\nHost: web.test\r\n\r\n');
    await once(socket, 'data');
    const answer = readAll(socket);
    const length = method === 'POST' ? 'Content-Length: 0\r\n' : '';
    socket.write(`${method} /second HTTP/1.1\r\nHost: web.test\r\nConnection: close\r\n${length}\r\n`);
    return { answer: await answer, seen };
  };

  test.each(['POST', 'DELETE', 'PUT', 'PATCH', 'LOCK'])('does not run twice: %s', async (method) => {
    const { answer, seen } = await cutting(method);
    expect(seen).toEqual(['GET', method]);
    expect(answer).toContain('502 Bad Gateway');
  });

  test.each(['GET', 'HEAD', 'OPTIONS'])('is sent again where it changes nothing: %s', async (method) => {
    const { answer, seen } = await cutting(method);
    expect(seen).toEqual(['GET', method, method]);
    expect(answer).toContain('200 OK');
  });
});

describe('a request of HTTP/1.0 to the proxy', () => {
  test.each([
    ['http://web.test/', '', 'Host: web.test'],
    ['http://WEB.test:80/', '', 'Host: web.test'],
    ['http://web.test:8080/', '', 'Host: web.test:8080'],
    ['http://web.test/', 'Host: web.test\r\n', 'Host: web.test'],
  ])('has the host that was judged: %s', async (target, host, expected) => {
    const heads: string[] = [];
    const place = await openTcp((socket) =>
      socket.once('data', (bytes) => {
        heads.push(String(bytes));
        socket.end('HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\ncame');
      }),
    );
    const { say } = await openGateway({ allow: ['web.test:80,8080'], hosts: { 'web.test': place } });
    expect(await say('127.0.0.1', 3128, `GET ${target} HTTP/1.0\r\n${host}\r\n`)).toContain('came');
    expect(heads).toHaveLength(1);
    expect(heads[0]?.split('\r\n').filter((line) => /^host:/i.test(line))).toEqual([expected]);
  });
});
