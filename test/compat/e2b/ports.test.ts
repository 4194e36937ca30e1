/** What a program on a port of a sandbox answers comes through as it is, and costs the service no warning. */
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

const serve = async (program: string, port: number) => {
  const source = `require('http').createServer((q, s) => { ${program} }).listen(${port}, () => console.log('up'))`;
  await sandbox.files.write('server.cjs', source);
  await new Promise((resolve) => {
    void sandbox.commands.run('node server.cjs', { background: true, onStdout: resolve, timeoutMs: 0 });
  });
  const headers = {
    'e2b-sandbox-id': sandbox.sandboxId,
    'e2b-sandbox-port': String(port),
    'e2b-traffic-access-token': sandbox.trafficAccessToken ?? '',
  };
  return () => fetch(service.url, { headers });
};

test('an answer takes no more listeners than Node takes for sound', async () => {
  const ask = await serve("s.end('x'.repeat(1000000))", 3000);
  const warned: string[] = [];
  const note = (warning: Error) => warned.push(warning.name);
  process.on('warning', note);
  try {
    expect(await (await ask()).text()).toHaveLength(1_000_000);
    // Node tells of warnings with the next tick.
    await new Promise(setImmediate);
  } finally {
    process.off('warning', note);
  }
  expect(warned).toEqual([]);
});

test('an answer that breaks off is cut off, and does not look whole', async () => {
  const ask = await serve("s.writeHead(200); s.write('begun', () => s.destroy())", 3001);
  const answer = await ask();
  expect(answer.status).toBe(200);
  await expect(answer.text()).rejects.toThrow();
});
