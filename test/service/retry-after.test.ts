/** Clients that know nothing of our errors read from the header when to ask again. */
import { expect, test } from 'vitest';
import { createHttpApp, mount } from '../../src/base/http/http-app.js';
import { sendE2bError } from '../../src/compat/e2b/e2b-errors.js';
import { sendRpcError } from '../../src/compat/e2b/envd/connect-rpc.js';
import { sendDetail } from '../../src/compat/openhands-remote/detail.js';
import { WorkcellError } from '../../src/protocol/index.js';

test.each([
  ['native', undefined],
  ['E2B', sendE2bError],
  ['procedures of E2B', sendRpcError],
  ['OpenHands', sendDetail],
] as const)('an answer that says when to ask again has Retry-After (%s)', async (_name, send) => {
  const app = createHttpApp({ access: { checkSource() {}, checkToken() {} } });
  mount(app, [
    {
      prefix: '',
      routes(scope) {
        if (send !== undefined)
          scope.setErrorHandler((error, _request, reply) => send(reply, error, () => {}));
        scope.get('/:code/:after', async (request) => {
          const { code, after } = request.params as { code: 'rate-limited'; after: string };
          throw new WorkcellError(code, 'Not now.', { details: { retryAfterMs: Number(after) } });
        });
        scope.get('/never', async () => {
          throw new WorkcellError('rate-limited', 'Not now.', { details: { limit: 1 } });
        });
      },
    },
  ]);
  const after = async (url: string) => (await app.inject({ url })).headers['retry-after'];
  expect(await after('/rate-limited/1200')).toBe('2');
  expect(await after('/rate-limited/1')).toBe('1');
  expect(await after('/backend-unavailable/5000')).toBe('5');
  expect(await after('/not-found/5000')).toBeUndefined();
  expect(await after('/never')).toBeUndefined();
  await app.close();
});
