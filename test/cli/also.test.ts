/** Several protocols at one address: the rules of the strictest hold, and each keeps to its own form. */
import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createAccess } from '../../src/base/http/access.js';
import { createHttpApp, mount } from '../../src/base/http/http-app.js';
import { type AlsoOptions, mountsOf } from '../../src/cli/also.js';
import { createProgram } from '../../src/cli/program.js';
import { serveCamel } from '../../src/compat/camel/camel-app.js';
import { serveMcpOverHttp } from '../../src/compat/mcp/http.js';
import { serveOpenHands } from '../../src/compat/openhands-v0/serve-openhands-v0.js';
import { createRuntime, type Runtime } from '../../src/index.js';

const listen = { host: '127.0.0.1', port: 0 };
const keys = ['first-key-of-two-0001', 'second-key-of-two-002'];
const all: AlsoOptions['also'] = ['native', 'mcp', 'openhands-v0', 'openhands-v1', 'camel'];
/** A route of each that needs the token. */
const routes = {
  native: '/native/v1/actions',
  mcp: '/mcp',
  'openhands-v0': '/openhands-v0/execute_action',
  'openhands-v1': '/openhands-v1/api/bash/execute_bash_command',
  camel: '/camel/add',
};

let runtime: Runtime;
beforeAll(async () => {
  runtime = await createRuntime({ backend: 'cli', config: false });
});
afterAll(() => runtime.close());

const mounts = (also: AlsoOptions['also'], token: string | readonly string[] | undefined) =>
  mountsOf({ also, entry: [] }, runtime, token);

describe('the token', () => {
  const camel = { listen, toolkits: [], tools: [] };
  const servers = {
    'camel-server': async (also: AlsoOptions['also'], token?: string) =>
      serveCamel(runtime, { ...camel, token, allowAnonymous: true }, await mounts(also, token)),
    'openhands-server': async (also: AlsoOptions['also'], token?: string) => {
      const options = { listen, token, allowAnonymous: true, workingDirectory: runtime.workspace };
      return serveOpenHands(runtime, options, await mounts(also, token));
    },
  };
  const strict = ['native', 'mcp', 'openhands-v1'] as const;
  const pairs = Object.entries(servers).flatMap(([name, serve]) =>
    strict.map((also) => [name, also, serve] as const),
  );

  test.each(pairs)('of %s is needed, and long enough, for %s beside it', async (_name, also, serve) => {
    for (const token of [undefined, 'a', 'fifteen-letters'])
      await expect(serve([also], token)).rejects.toMatchObject({ code: 'invalid-config' });
    await (await serve([also], keys[0])).close();
  });

  test('may be short, or absent, where no protocol wants more', async () => {
    for (const token of [undefined, 'a']) {
      await (await servers['camel-server'](['openhands-v0'], token)).close();
      await (await servers['openhands-server'](['camel'], token)).close();
    }
    const mcp = serveMcpOverHttp(
      () => expect.fail('no client'),
      { listen, token: 'a' },
      await mounts(['camel'], 'a'),
    );
    await expect(mcp).rejects.toThrow('shorter than 16 characters');
  });
});

describe('beside each other', () => {
  let app: FastifyInstance;
  beforeAll(async () => {
    const sendFailure = () => expect.fail('a failure has the form of another protocol');
    app = createHttpApp({ access: createAccess({}), sendFailure });
    const main = { prefix: '', routes: (scope: FastifyInstance) => void scope.get('/', async () => '') };
    mount(app, [main, ...(await mounts(all, keys))]);
    await app.ready();
  });
  afterAll(() => app.close());

  const send = (url: string, key: string, body: string) => {
    const headers = {
      'content-type': 'application/json',
      authorization: `Bearer ${key}`,
      'x-session-api-key': key,
      accept: 'application/json, text/event-stream',
    };
    return app.inject({ method: 'POST', url, headers, body });
  };

  const isRefusal = (status: number) => status === 401 || status === 403;

  test.each(all)('%s takes every key, and no other', async (protocol) => {
    for (const key of keys)
      expect((await send(routes[protocol], key, '{}')).statusCode).not.toSatisfy(isRefusal);
    expect((await send(routes[protocol], 'another-key-of-no-use', '{}')).statusCode).toSatisfy(isRefusal);
  });

  const forms: Record<(typeof all)[number], object> = {
    native: { error: { code: expect.any(String), message: expect.any(String) } },
    mcp: { jsonrpc: '2.0', error: { code: expect.any(Number) } },
    'openhands-v0': { detail: expect.anything() },
    'openhands-v1': { detail: expect.anything() },
    camel: { detail: expect.anything() },
  };

  test.each(all)('%s answers failures in its own form', async (protocol) => {
    for (const [key, body] of [
      ['another-key-of-no-use', '{}'],
      [keys[0] ?? '', '{"half":'],
    ] as const) {
      const answer = await send(routes[protocol], key, body);
      expect(answer.statusCode).toBeGreaterThanOrEqual(400);
      expect(answer.json()).toMatchObject(forms[protocol]);
    }
  });

  test('a client of native that closes its runtime leaves it to the others', async () => {
    const client = 'a-client-of-this-test';
    const headers = { authorization: `Bearer ${keys[1]}`, 'workcell-client': client };
    const act = (action: object, named = headers as Record<string, string>) =>
      app.inject({ method: 'POST', url: '/native/v1/actions', headers: named, payload: action });
    const run = (command: string, session: string) => ({ action: 'run', command, session });
    expect((await act(run('export MARK=1', 'mine'))).statusCode).toBe(200);
    await runtime.run('export MARK=2', { session: 'other' });
    for (const named of [headers, { authorization: headers.authorization }])
      expect((await app.inject({ method: 'POST', url: '/native/v1/close', headers: named })).statusCode).toBe(
        204,
      );
    expect(await runtime.run('echo $MARK', { session: 'other' })).toMatchObject({ output: '2\n' });
    expect(await runtime.run('echo $MARK', { session: 'mine' })).toMatchObject({ output: '\n' });
  });
});

test.each([
  ['without an address', ['mcp', '--also', 'native'], '--also needs --listen'],
  [
    'that may write',
    ['mcp', '--listen', '127.0.0.1:0', '--read-only', '--also', 'camel'],
    '--read-only exclude',
  ],
])('mcp serves no protocol %s', async (_, words, message) => {
  await expect(createProgram().parseAsync(words, { from: 'user' })).rejects.toThrow(message);
});
