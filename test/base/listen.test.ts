import fastify from 'fastify';
import { expect, test } from 'vitest';
import { listen } from '../../src/base/http/listen.js';

test('an address that is taken is an error of ours that says so', async () => {
  const first = await listen(fastify(), { host: '127.0.0.1', port: 0 });
  try {
    await expect(listen(fastify(), first.address)).rejects.toMatchObject({
      code: 'backend-unavailable',
      message: expect.stringMatching(
        /^The server cannot listen on 127\.0\.0\.1:\d+: another program listens there/,
      ),
    });
  } finally {
    await first.close();
  }
});
