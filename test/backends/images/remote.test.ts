/** Against a local stand-in that keeps to the published calls and really unpacks what it gets. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { createGunzip } from 'node:zlib';
import { extract } from 'tar-stream';
import { expect, onTestFinished, test } from 'vitest';
import { remoteBuilder } from '../../../src/backends/images/index.js';

interface Build {
  tags: string[];
  files: Map<string, number>;
  dockerfile: string;
}

class StandIn {
  readonly built: Build[] = [];
  readonly images = new Set<string>();
  readonly keys = new Set<unknown>();
  /** Answers to the next requests for a build to begin and for its status. */
  busy = 0;
  statuses: object[] = [];
  #pending: Build | undefined;

  async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '', 'http://here');
    this.keys.add(request.headers['x-api-key']);
    const send = (status: number, body: unknown) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    if (request.headers['x-api-key'] !== 'right') return void send(403, { detail: 'no' });
    switch (`${request.method} ${url.pathname}`) {
      case 'GET /registry_prefix':
        return void send(200, { registry_prefix: 'registry.test:5000/team' });
      case 'GET /image_exists':
        return void send(200, { exists: this.images.has(url.searchParams.get('image') ?? '') });
      case 'POST /build': {
        const form = await new Response(await buffer(request), {
          headers: { 'content-type': request.headers['content-type'] ?? '' },
        }).formData();
        if (this.busy-- > 0) return void send(429, {});
        this.#pending = await readBuild(form);
        return void send(200, { build_id: 'a/b' });
      }
      case 'GET /build_status': {
        if (url.searchParams.get('build_id') !== 'a/b') return void send(404, {});
        const next = this.statuses.shift() ?? { status: 'SUCCESS', image: this.#pending?.tags[0] };
        if ((next as { status: string }).status === 'SUCCESS' && this.#pending !== undefined) {
          this.built.push(this.#pending);
          for (const tag of this.#pending.tags) this.images.add(tag);
        }
        return void send(200, next);
      }
      default:
        return void send(404, {});
    }
  }
}

async function readBuild(form: FormData): Promise<Build> {
  const files = new Map<string, number>();
  let dockerfile = '';
  const context = Readable.from(Buffer.from(String(form.get('context')), 'base64'));
  for await (const entry of context.pipe(createGunzip()).pipe(extract())) {
    const content = await buffer(entry);
    files.set(entry.header.name, content.length);
    if (entry.header.name === 'Dockerfile') dockerfile = content.toString();
  }
  return { tags: [form.get('target_image'), ...form.getAll('tags')].map(String), files, dockerfile };
}

async function standIn(): Promise<{ service: StandIn; url: string }> {
  const service = new StandIn();
  const server: Server = createServer((request, response) => void service.answer(request, response));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return { service, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

test('what is installed and the executor are built one on the other; then nothing is', async () => {
  const { service, url } = await standIn();
  const builder = remoteBuilder({ url, apiKey: 'right', statusIntervalMs: 1 });
  service.statuses = [{ status: 'QUEUED' }, { status: 'WORKING' }];
  const messages: string[] = [];
  const spec = { base: 'debian:bookworm', systemPackages: ['jq'] };
  const image = await builder.build(spec, {
    onProgress: ({ stage, message }) => messages.push(`${stage} ${message}`),
  });
  expect(image.built).toBe('all');
  expect(image.name).toMatch(/^registry\.test:5000\/team\/workcell-runtime:wc_v[\w.]+$/);
  expect(messages).toEqual([
    'dependencies QUEUED',
    'dependencies WORKING',
    'dependencies SUCCESS',
    'executor SUCCESS',
  ]);
  const [lock, source] = service.built;
  expect(lock?.dockerfile).toMatch(/^FROM debian:bookworm\n/);
  expect(lock?.files.get('node/node')).toBeGreaterThan(10_000_000);
  expect(source?.dockerfile).toContain(`FROM ${lock?.tags[0]}\n`);
  expect([...(source?.files.keys() ?? [])]).toContain('executor/executor.cjs');
  expect(source?.tags[0]).toBe(image.name);
  expect(await builder.exists(image.name)).toBe(true);

  expect(await builder.build(spec)).toMatchObject({ name: image.name, built: 'nothing' });
  service.images.delete(image.name);
  expect(await builder.build(spec)).toMatchObject({ name: image.name, built: 'executor' });
  expect(service.built).toHaveLength(3);
});

const small = { base: 'debian:bookworm', systemPackages: ['jq'], executor: false };

test.each(['FAILURE', 'INTERNAL_ERROR', 'TIMEOUT', 'CANCELLED', 'EXPIRED'])(
  '%s is a failure',
  async (status) => {
    const { service, url } = await standIn();
    service.statuses = [{ status, error: 'apt has no jq' }];
    await expect(
      remoteBuilder({ url, apiKey: 'right', statusIntervalMs: 1 }).build(small),
    ).rejects.toMatchObject({
      code: 'build-failed',
      message: expect.stringContaining('apt has no jq'),
    });
  },
);

test('a service that is busy is asked again', async () => {
  const { service, url } = await standIn();
  service.busy = 2;
  const { built } = await remoteBuilder({ url, apiKey: 'right', statusIntervalMs: 1 }).build(small);
  expect(built).toBe('all');
});

test('a build that takes too long, or is cancelled, is given up', async () => {
  const { service, url } = await standIn();
  service.statuses = Array.from({ length: 1000 }, () => ({ status: 'WORKING' }));
  const options = { url, apiKey: 'right', statusIntervalMs: 1_000_000 };
  await expect(remoteBuilder({ ...options, timeoutMs: 50 }).build(small)).rejects.toMatchObject({
    code: 'timed-out',
  });
  const cancel = new AbortController();
  const cancelled = remoteBuilder(options).build(small, {
    signal: cancel.signal,
    onProgress: () => cancel.abort(),
  });
  await expect(cancelled).rejects.toMatchObject({ code: 'cancelled' });
});

test('what the service cannot be asked for is refused before anything is sent', async () => {
  const { service, url } = await standIn();
  const builder = remoteBuilder({ url, apiKey: 'right' });
  await expect(builder.build(small, { variables: { PIP_INDEX_URL: 'http://u:p@i' } })).rejects.toMatchObject({
    code: 'capability-unsupported',
    message: expect.not.stringContaining('u:p'),
  });
  expect(service.built).toEqual([]);
});

test('a wrong key, a wrong address and nonsense are told apart', async () => {
  const { url } = await standIn();
  await expect(remoteBuilder({ url, apiKey: 'wrong' }).build(small)).rejects.toMatchObject({
    code: 'unauthorized',
  });
  await expect(remoteBuilder({ url: 'http://127.0.0.1:1', apiKey: 'k' }).exists('a')).rejects.toMatchObject({
    code: 'backend-unavailable',
  });
  expect(() => remoteBuilder({ url: 'ftp://x', apiKey: 'k' })).toThrow('not the address');
  const nonsense = createServer((_request, response) => void response.end('<html>'));
  nonsense.listen(0, '127.0.0.1');
  await once(nonsense, 'listening');
  onTestFinished(() => void nonsense.close());
  const port = (nonsense.address() as AddressInfo).port;
  await expect(
    remoteBuilder({ url: `http://127.0.0.1:${port}`, apiKey: 'k' }).exists('a'),
  ).rejects.toMatchObject({
    code: 'backend-unavailable',
    message: expect.stringContaining('does not fit'),
  });
});

test('the key does not follow a redirect', async () => {
  const { service, url } = await standIn();
  const elsewhere = createServer(
    (_request, response) => void response.writeHead(302, { location: url }).end(),
  );
  elsewhere.listen(0, '127.0.0.1');
  await once(elsewhere, 'listening');
  onTestFinished(() => void elsewhere.close());
  const port = (elsewhere.address() as AddressInfo).port;
  await expect(
    remoteBuilder({ url: `http://127.0.0.1:${port}`, apiKey: 'right' }).exists('a'),
  ).rejects.toThrow();
  expect(service.keys.size).toBe(0);
});
