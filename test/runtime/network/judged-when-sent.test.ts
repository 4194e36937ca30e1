/** Rules that change while a request waits: what is sent then is judged by the new ones. */
import { describe, expect, test } from 'vitest';
import { openGateway, openWeb, readAll } from './open-gateway.js';

/** A server on which requests to `/slow` hang. */
async function openSlow() {
  const seen: string[] = [];
  const waiting = new Map<string, () => void>();
  const place = await openWeb((request, response) => {
    const { url = '' } = request;
    seen.push(url);
    waiting.get(url)?.();
    if (url !== '/slow') response.end('came');
  });
  const sees = (url: string) => new Promise<void>((resolve) => waiting.set(url, resolve));
  return { place, seen, sees };
}

const get = (target: string) => `GET ${target} HTTP/1.1\r\nHost: web.test\r\n\r\n`;

describe('a request that waits behind another', () => {
  test.each([
    ['direct', 'web.test', 80, ''],
    ['by the proxy', '127.0.0.1', 3128, 'http://web.test'],
  ])('is judged again when its turn comes: %s', async (_way, to, port, origin) => {
    const { place, seen, sees } = await openSlow();
    const { gateway, dial, event } = await openGateway({
      requests: [{ host: 'web.test', methods: ['GET'] }],
      hosts: { 'web.test': place },
    });
    const socket = await dial(to, port);
    const first = sees('/slow');
    const answers = readAll(socket);
    socket.write(get(`${origin}/slow`) + get(`${origin}/forbidden`) + get(`${origin}/allowed`));
    await first;
    const settled = Promise.race([event('refused'), sees('/forbidden')]);
    const allowed = sees('/allowed');
    await gateway.change((rules) => ({
      ...rules,
      requests: [{ host: 'web.test', paths: ['/slow', '/allowed'] }],
    }));
    await settled;
    await allowed;
    expect(seen).toEqual(['/slow', '/allowed']);
    socket.end();
    expect(await answers).toContain('403 Forbidden');
  });
});

describe('a request that waits for a secret', () => {
  const openCell = async (body = true) => {
    const { place, seen, sees } = await openSlow();
    let give = (_value: string) => {};
    let wanted = () => {};
    const asked = new Promise<void>((resolve) => {
      wanted = resolve;
    });
    const value = () =>
      new Promise<string>((resolve) => {
        give = resolve;
        wanted();
      });
    const opened = await openGateway(
      { requests: [{ host: 'web.test', methods: ['GET', 'POST'] }], hosts: { 'web.test': place } },
      [{ name: 'TOKEN', hosts: ['http://web.test'], body, value }],
    );
    const token = opened.gateway.opened?.placeholders.TOKEN ?? '';
    const socket = await opened.dial('web.test', 80);
    const answers = readAll(socket);
    const narrow = () =>
      opened.gateway.change((rules) => ({
        ...rules,
        requests: [{ host: 'web.test', methods: ['GET'] }],
      }));
    return {
      ...opened,
      seen,
      sees,
      socket,
      answers,
      token,
      asked,
      give: (text: string) => give(text),
      narrow,
    };
  };

  test('is not sent when the rule goes before its value comes', async () => {
    const { socket, answers, token, asked, give, narrow, seen } = await openCell();
    socket.write(
      `POST /held HTTP/1.1\r\nHost: web.test\r\nConnection: close\r\nX-Token: ${token}\r\nContent-Length: 0\r\n\r\n`,
    );
    await asked;
    await narrow();
    give('value');
    expect(await answers).toContain('403 Forbidden');
    expect(seen).toEqual([]);
  });

  test('is not sent when the rule goes before its body is whole', async () => {
    const { socket, answers, token, asked, give, narrow, seen } = await openCell();
    socket.write(
      `POST /held HTTP/1.1\r\nHost: web.test\r\nConnection: close\r\nX-Token: ${token}\r\nContent-Length: 9\r\n\r\nhalf`,
    );
    await asked;
    give('value');
    await narrow();
    socket.write('-open');
    expect(await answers).toContain('403 Forbidden');
    expect(seen).toEqual([]);
  });

  test.each([
    ['whole', true],
    ['in pieces', false],
  ])('is not sent when a rule comes that its form gets around, %s', async (_how, body) => {
    const { socket, answers, token, asked, give, gateway, seen } = await openCell(body);
    await gateway.change((rules) => ({ ...rules, requests: [{ host: 'web.test' }] }));
    const form = '_method=DELETE';
    const head = `POST /held HTTP/1.1\r\nHost: web.test\r\nConnection: close\r\nX-Token: ${token}\r\n`;
    socket.write(
      `${head}Content-Type: application/x-www-form-urlencoded\r\nContent-Length: ${form.length}\r\n\r\n${form}`,
    );
    await asked;
    await gateway.change((rules) => ({ ...rules, requests: [{ host: 'web.test', methods: ['POST'] }] }));
    give('value');
    expect(await answers).toContain('403 Forbidden');
    expect(seen).toEqual([]);
  });

  test('is sent where the rule stays', async () => {
    const { socket, answers, token, asked, give, gateway, seen } = await openCell();
    socket.write(
      `POST /held HTTP/1.1\r\nHost: web.test\r\nConnection: close\r\nX-Token: ${token}\r\nContent-Length: 4\r\n\r\nbody`,
    );
    await asked;
    await gateway.change((rules) => ({ ...rules, allow: ['other.test'] }));
    give('value');
    expect(await answers).toContain('came');
    expect(seen).toEqual(['/held']);
  });
});

test('requests that come together go by one connection, in their order, whatever delays the first', async () => {
  const seen: string[] = [];
  const ports = new Set<number | undefined>();
  const place = await openWeb((request, response) => {
    seen.push(request.url ?? '');
    ports.add(request.socket.remotePort);
    response.end('x'.repeat(1_000_000));
  });
  const gives: ((value: string) => void)[] = [];
  let allCame = () => {};
  const came = new Promise<void>((resolve) => {
    allCame = resolve;
  });
  const value = () =>
    new Promise<string>((resolve) => {
      if (gives.push(resolve) === 2) allCame();
    });
  const opened = await openGateway({ allow: ['web.test'], hosts: { 'web.test': place } }, [
    { name: 'TOKEN', hosts: ['http://web.test'], value },
  ]);
  const token = opened.gateway.opened?.placeholders.TOKEN ?? '';
  const socket = await opened.dial('web.test', 80);
  const answers = readAll(socket);
  // Its value is asked for when it comes, so the others have come by then as well.
  const last = `GET /4 HTTP/1.1\r\nHost: web.test\r\nConnection: close\r\nX-Token: ${token}\r\n\r\n`;
  const first = `GET /1 HTTP/1.1\r\nHost: web.test\r\nX-Token: ${token}\r\n\r\n`;
  socket.write(first + get('/2') + get('/3') + last);
  await came;
  for (const give of gives.reverse()) give('value');
  expect((await answers).length).toBeGreaterThan(4_000_000);
  expect(seen).toEqual(['/1', '/2', '/3', '/4']);
  expect(ports.size).toBe(1);
});
