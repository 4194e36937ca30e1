import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { eventually } from '../../../src/testing/contract/given.js';
import { authorized, serve, type TestServer } from './serve.js';

let served: TestServer;
beforeAll(async () => {
  served = await serve();
});
afterAll(() => served[Symbol.asyncDispose]());

const lines = { accept: 'application/x-ndjson' };

function post(action: unknown, headers: Record<string, string> = {}, url = '/v1/actions') {
  return served.server.app.inject({
    method: 'POST',
    url,
    headers: { ...authorized, 'content-type': 'application/json', ...headers },
    payload: JSON.stringify(action),
  });
}

const get = (url: string, headers = {}) =>
  served.server.app.inject({ method: 'GET', url, headers: { ...authorized, ...headers } });

const parse = (body: string): Record<string, unknown>[] =>
  body
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));

describe('answers', () => {
  test('an action as JSON is answered with its observation', async () => {
    const answer = await post({ action: 'run', command: 'echo hi', session: randomUUID() });
    expect(answer.statusCode).toBe(200);
    expect(answer.json()).toMatchObject({ observation: 'run', output: 'hi\n', exitCode: 0 });
  });

  test('on request it is answered line by line, the observation last', async () => {
    const answer = await post({ action: 'run', command: 'echo one; echo two', session: randomUUID() }, lines);
    const messages = parse(answer.body);
    expect(answer.headers['content-type']).toBe('application/x-ndjson');
    expect(messages[0]).toMatchObject({
      progress: { type: 'output-delta', stream: 'terminal', sequence: 0 },
    });
    expect(messages.at(-1)).toMatchObject({ observation: { output: 'one\ntwo\n' } });
  });

  test('a refusal has the status of its code, and is the last line where lines were asked for', async () => {
    const action = { action: 'read', path: 'missing' };
    const answer = await post(action);
    expect([answer.statusCode, answer.json()]).toMatchObject([404, { error: { code: 'not-found' } }]);
    expect(parse((await post(action, lines)).body)).toMatchObject([{ error: { code: 'not-found' } }]);
  });

  test('large answers arrive whole', async () => {
    const content = 'x'.repeat(3_000_001);
    await post({ action: 'write', path: 'large', content });
    expect((await post({ action: 'read', path: 'large' })).json().content).toBe(content);
    expect(parse((await post({ action: 'read', path: 'large' }, lines)).body)).toMatchObject([
      { observation: { content } },
    ]);
  });
});

describe('keys', () => {
  test('a repeated request does not run again and gets the same answer', async () => {
    const key = randomUUID();
    const action = { action: 'run', command: 'echo x >> count; wc -l < count', session: randomUUID() };
    const answers = await Promise.all([1, 2, 3].map(() => post(action, { 'idempotency-key': key })));
    answers.push(await post(action, { 'idempotency-key': key }));
    expect(new Set(answers.map(({ body }) => body)).size).toBe(1);
    expect(readFileSync(join(served.workspace, 'count'), 'utf8')).toBe('x\n');
  });

  test('a key that was used for something else is refused with already-exists', async () => {
    const headers = { 'idempotency-key': randomUUID() };
    await post({ action: 'list_sessions' }, headers);
    expect((await post({ action: 'list_processes' }, headers)).json()).toMatchObject({
      error: { code: 'already-exists' },
    });
  });

  test('the same action written with other blanks is the same request', async () => {
    const send = (payload: string) =>
      served.server.app.inject({
        method: 'POST',
        url: '/v1/actions',
        headers: { ...authorized, 'content-type': 'application/json', 'idempotency-key': 'blanks' },
        payload,
      });
    const first = await send('{"action":"write","path":"blanks","content":"x","append":true}');
    const again = await send('{ "action": "write",\n  "path": "blanks", "content": "x", "append": true }');
    expect(again.body).toBe(first.body);
    expect(readFileSync(join(served.workspace, 'blanks'), 'utf8')).toBe('x');
  });

  test('what was begun in frames does not go on in lines', async () => {
    const key = randomUUID();
    const frames = { accept: 'application/vnd.workcell.frames' };
    const { body } = await post(
      { action: 'run', command: 'echo hi', session: randomUUID() },
      { ...frames, 'idempotency-key': key },
    );
    const resumed = await get(`/v1/actions/${key}`, lines);
    expect([resumed.statusCode, resumed.json().error.code]).toEqual([400, 'invalid-action']);
    expect((await get(`/v1/actions/${key}`, frames)).body).toBe(body);
    expect((await get(`/v1/actions/${key}`)).json()).toMatchObject({ output: 'hi\n' });
  });

  test('a key that is not one is refused with invalid-action', async () => {
    for (const key of ['', 'a b', 'x'.repeat(200), '../..']) {
      const answer = await post({ action: 'list_sessions' }, { 'idempotency-key': key });
      expect([answer.statusCode, answer.json().error.code]).toEqual([400, 'invalid-action']);
    }
  });

  test('lines can be read again from any byte', async () => {
    const key = randomUUID();
    const action = { action: 'run', command: 'seq 1 3000', session: randomUUID() };
    const { body } = await post(action, { ...lines, 'idempotency-key': key });
    for (const from of [0, 1, 30_000, body.length - 10, body.length]) {
      expect((await get(`/v1/actions/${key}?from=${from}`, lines)).body).toBe(body.slice(from));
    }
    expect((await get(`/v1/actions/${key}?from=${body.length + 1}`, lines)).statusCode).toBe(404);
    expect((await get(`/v1/actions/${key}`)).json()).toMatchObject({ observation: 'run' });
  });

  test('an unknown key is refused with output-not-found', async () => {
    expect((await get(`/v1/actions/${randomUUID()}`)).json()).toMatchObject({
      error: { code: 'output-not-found' },
    });
  });

  test('results are kept within bounds, and a key whose result is gone still does not run again', async () => {
    await using small = await serve({ limits: { keptActions: 2 } });
    const run = (key: string, name: string) =>
      small.server.app.inject({
        method: 'POST',
        url: '/v1/actions',
        headers: { ...authorized, 'content-type': 'application/json', 'idempotency-key': key },
        payload: JSON.stringify({ action: 'write', path: name, content: 'x', append: true }),
      });
    for (const name of ['a', 'b', 'c', 'd']) await run(`key-${name}`, name);
    expect((await run('key-a', 'a')).json()).toMatchObject({ error: { code: 'output-not-found' } });
    expect((await run('key-d', 'd')).json()).toMatchObject({ observation: 'write' });
    expect(readFileSync(join(small.workspace, 'a'), 'utf8')).toBe('x');
  });
});

describe('cancelling', () => {
  const remove = (key: string) =>
    served.server.app.inject({ method: 'DELETE', url: `/v1/actions/${key}`, headers: authorized });

  test('a running command is ended and its answer says so', async () => {
    const key = randomUUID();
    const running = post(
      { action: 'run', command: 'touch began; sleep 1000', session: randomUUID() },
      { 'idempotency-key': key },
    );
    await eventually(() => existsSync(join(served.workspace, 'began')));
    expect((await remove(key)).statusCode).toBe(204);
    expect((await running).json()).toMatchObject({ endedBy: 'cancelled' });
  });

  test('an action that comes after its cancellation is refused and does not run', async () => {
    const key = randomUUID();
    await remove(key);
    const answer = await post({ action: 'write', path: 'never', content: 'x' }, { 'idempotency-key': key });
    expect(answer.json()).toMatchObject({ error: { code: 'cancelled' } });
    expect(existsSync(join(served.workspace, 'never'))).toBe(false);
  });
});
