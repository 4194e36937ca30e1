import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterEach, expect, test, vi } from 'vitest';
import { cellNoticeSchema } from '../../src/protocol/service-wire.js';
import type { CellRecord } from '../../src/service/service-store.js';
import { Webhooks } from '../../src/service/webhooks.js';

const secret = 'a-secret-of-the-test';
const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

/** Takes what comes, and answers with these statuses in turn, then with 200; with 0 not at all. */
async function target(...statuses: number[]) {
  const got: { headers: IncomingHttpHeaders; body: string }[] = [];
  const server = createServer(async (request, answer) => {
    got.push({ headers: request.headers, body: await text(request) });
    const status = statuses.shift() ?? 200;
    if (status !== 0) answer.writeHead(status, { location: '/elsewhere' }).end();
  }).listen(0, '127.0.0.1');
  servers.push(server);
  await once(server, 'listening');
  return { got, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook` };
}

function record(id: string, state: CellRecord['state']): CellRecord {
  return {
    id,
    tenant: 'a',
    template: 'default',
    state,
    labels: {},
    createdAt: 0,
    usedAt: 0,
    onIdle: 'pause',
    ref: { backend: 'sandbox', place: {}, id },
  };
}
const change = (id: string, state: CellRecord['state'], before?: CellRecord['state']) => ({
  record: record(id, state),
  before: before === undefined ? undefined : record(id, before),
  isGone: false,
});

test('changes of state come signed and in order, each again until it is taken', async () => {
  const { got, url } = await target(500, 302);
  const logged: string[] = [];
  const hooks = new Webhooks({ url, secret }, (_level, message) => void logged.push(message), [1, 1, 1]);
  hooks.tell(change('one', 'starting'));
  hooks.tell(change('one', 'running', 'starting'));
  hooks.tell(change('one', 'running', 'running'));
  hooks.tell({ ...change('one', 'running', 'running'), isGone: true });
  await vi.waitFor(() => expect(got).toHaveLength(5));
  const notices = got.map(({ body }) => cellNoticeSchema.parse(JSON.parse(body)));
  expect(notices.map(({ state }) => state)).toEqual(['starting', 'starting', 'starting', 'running', 'gone']);
  expect(new Set(notices.map(({ id }) => id)).size).toBe(3);
  expect(notices.at(-1)).toMatchObject({ before: 'running', cell: { id: 'one', tenant: 'a' } });
  for (const { headers, body } of got) {
    const said = `${headers['x-workcell-timestamp']}.${body}`;
    const signature = createHmac('sha256', secret).update(said).digest('hex');
    expect(headers['x-workcell-signature']).toBe(`sha256=${signature}`);
  }
  expect(logged).toEqual([]);
  await hooks.close();
});

test('a target that is down costs a bounded queue, and what is given up is said', async () => {
  const { got, url } = await target(...Array.from({ length: 4 }, () => 503));
  const given: Record<string, unknown>[] = [];
  const log = (_level: string, _message: string, fields: object = {}) => void given.push({ ...fields });
  const hooks = new Webhooks({ url, secret }, log, [1, 1, 1]);
  hooks.tell(change('unlucky', 'running', 'paused'));
  hooks.tell(change('next', 'running', 'paused'));
  await vi.waitFor(() => expect(got).toHaveLength(5));
  expect(given).toMatchObject([{ cell: 'unlucky', state: 'running', reason: 'it answers 503' }]);
  expect(JSON.stringify(given)).not.toContain(secret);
  await hooks.close();

  const silent = await target(0);
  const full = new Webhooks({ url: silent.url, secret }, log);
  for (let index = 0; index < 1500; index++) full.tell(change(`cell${index}`, 'running', 'paused'));
  expect(full.waiting).toBe(1000);
  expect(given.at(-1)).toMatchObject({ reason: 'too many wait' });
  // Nor does the end of the service wait for it.
  await full.close();
});
