/** Traces with a real provider of OpenTelemetry: from a client over the service to the action. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { context, propagation, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import {
  InMemorySpanExporter,
  NodeTracerProvider,
  type ReadableSpan,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-node';
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { ServiceClient } from '../../src/client/index.js';
import { createRuntime } from '../../src/index.js';
import { traceHeaders } from '../../src/protocol/tracing.js';
import { type Service, startService } from '../../src/service/serve-service.js';
import { eventually } from '../../src/testing/contract/given.js';

/** What starts wait for. */
let held = Promise.resolve();
vi.mock('../../src/service/runtime-source.js', async (original) => {
  const { runtimeSource } = await original<typeof import('../../src/service/runtime-source.js')>();
  return {
    runtimeSource(...parts: Parameters<typeof runtimeSource>) {
      const source = runtimeSource(...parts);
      const create: typeof source.create = async (...given) => {
        await held;
        return source.create(...given);
      };
      return { ...source, create };
    },
  };
});

const folder = mkdtempSync(join(tmpdir(), 'workcell-tracing-'));
const config = join(folder, 'service.toml');
const operatorKey = 'an-operator-key-of-the-test';
const exporter = new InMemorySpanExporter();
const provider = new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
const tracer = trace.getTracer('test');
let service: Service;
let url: string;

writeFileSync(
  config,
  `
backend = "local"
[events]
store = "memory"
[service]
store = "sqlite:${join(folder, 'service.db')}"
starts_at_once = 1
`,
  { mode: 0o600 },
);

beforeAll(async () => {
  service = await startService({ listen: { host: '127.0.0.1', port: 0 }, operatorKey, config });
  url = `http://127.0.0.1:${(service.address as { port: number }).port}`;
});
beforeEach(() => {
  exporter.reset();
  provider.register();
});
afterAll(async () => {
  await service.close();
  unregister();
  await provider.shutdown();
  rmSync(folder, { recursive: true, force: true });
});

function unregister(): void {
  trace.disable();
  context.disable();
  propagation.disable();
}

/** Names from the top down to that span. */
function pathOf(span: ReadableSpan): string[] {
  const all = exporter.getFinishedSpans();
  const parent = all.find((each) => each.spanContext().spanId === span.parentSpanContext?.spanId);
  return [...(parent === undefined ? [] : pathOf(parent)), span.name];
}

const named = (name: string) => exporter.getFinishedSpans().filter((span) => span.name === name);

test('one trace leads from a client over the service to the start of its cell and to its action', async () => {
  await tracer.startActiveSpan('program', async (program) => {
    await using runtime = await createRuntime({
      backend: 'service',
      config: false,
      url,
      apiKey: operatorKey,
    });
    await runtime.run('echo confidential');
    program.end();
  });
  const actions = 'POST /v1/cells/:cell/v1/actions';
  await eventually(() => named(actions).length > 0, 'the request has ended');
  const [start] = named('start cell');
  expect(pathOf(start as ReadableSpan)).toEqual(['program', 'POST /v1/cells', 'start cell']);
  const executions = named('execute run').map(pathOf);
  const ofClient = ['program', 'action run', 'execute run'];
  expect(executions).toContainEqual(ofClient);
  expect(executions).toContainEqual([...ofClient, actions, 'action run', 'execute run']);
  expect(new Set(exporter.getFinishedSpans().map((span) => span.spanContext().traceId)).size).toBe(1);

  const [request] = named(actions);
  expect(request).toMatchObject({ kind: SpanKind.SERVER, attributes: { 'http.response.status_code': 200 } });
  const told = exporter
    .getFinishedSpans()
    .map(({ name, attributes, status, events }) => ({ name, attributes, status, events }));
  expect(JSON.stringify(told)).not.toContain('confidential');
});

test('who waits for a start has a span for that', async () => {
  const client = new ServiceClient({ url, apiKey: operatorKey });
  let letGo = () => {};
  held = new Promise<void>((resolve) => {
    letGo = resolve;
  });
  const made = Promise.all(['one', 'two'].map((name) => client.create({ name })));
  await expect.poll(async () => (await client.list()).cells.length, { timeout: 30_000 }).toBe(2);
  letGo();
  await made;
  for (const name of ['one', 'two']) await client.remove(name);
  expect(named('wait for a turn').map(pathOf)).toEqual([['POST /v1/cells', 'wait for a turn']]);
});

test('a failed action has its code in its span, and not its message', async () => {
  await using runtime = await createRuntime({ backend: 'local', config: false });
  await expect(runtime.read('confidential')).rejects.toMatchObject({ code: 'not-found' });
  const [action] = named('action read');
  expect(action?.status).toEqual({ code: SpanStatusCode.ERROR, message: action?.attributes['error.type'] });
  expect(action?.attributes['error.type']).toMatch(/not-found$/);
  expect(JSON.stringify(action?.events)).not.toContain('confidential');
});

test('requests carry the trace, and not the baggage of the program', () => {
  const baggage = propagation.createBaggage({ user: { value: 'confidential' } });
  tracer.startActiveSpan('program', (program) => {
    const headers = context.with(propagation.setBaggage(context.active(), baggage), traceHeaders);
    expect(headers).toEqual({ traceparent: expect.stringContaining(program.spanContext().traceId) });
    program.end();
  });
});

test('without a provider requests carry nothing, and no spans come', async () => {
  unregister();
  await using runtime = await createRuntime({ backend: 'local', config: false });
  await runtime.run('true');
  expect(traceHeaders()).toEqual({});
  expect(exporter.getFinishedSpans()).toEqual([]);
});
