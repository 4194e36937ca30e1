/** What a sandbox answers on the port of the code interpreter: contexts, and code whose output comes line by line. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import * as z from 'zod';
import { Outgoing } from '../../../base/http/outgoing.js';
import { WorkcellError } from '../../../protocol/index.js';
import { E2bError, isGone, RpcError } from '../e2b-errors.js';
import type { OpenSandbox } from '../e2b-sandboxes.js';
import { insidePath } from '../envd/inside-path.js';
import { errorLine, resultLine } from './result-lines.js';

const executeSchema = z
  .object({
    code: z.string(),
    context_id: z.string().nullish(),
    language: z.string().max(64).nullish(),
    env_vars: z.record(z.string(), z.string()).nullish(),
  })
  .refine(
    ({ context_id, language }) => context_id == null || language == null,
    'Only one of context_id or language can be provided',
  );
const contextSchema = z.object({
  language: z.string().max(64).nullish(),
  cwd: z.string().max(4096).nullish(),
});

const keepaliveMs = 5000;
const streamed = { 'content-type': 'application/x-ndjson', 'cache-control': 'no-store' };

export function interpreterRoutes(
  app: FastifyInstance,
  sandboxOf: (request: FastifyRequest) => OpenSandbox,
  at: object,
): void {
  app.get('/health', at, async () => 'OK');

  app.post('/contexts', at, async (request) => {
    const { runtime, state, home } = sandboxOf(request);
    const { language, cwd } = body(contextSchema, request);
    const place = insidePath(cwd ?? '', home);
    return state.interpreter.create(runtime, language ?? 'python', place).catch(explain);
  });
  app.get('/contexts', at, async (request) => {
    const { state, home } = sandboxOf(request);
    state.interpreter.defaultContext('python', home);
    return state.interpreter.list();
  });
  app.delete('/contexts/:context', at, async (request, reply) => {
    const { runtime, state } = sandboxOf(request);
    await state.interpreter.control(runtime, contextIn(request), 'close');
    return reply.send({});
  });
  app.post('/contexts/:context/restart', at, async (request, reply) => {
    const { runtime, state } = sandboxOf(request);
    await state.interpreter.control(runtime, contextIn(request), 'restart');
    return reply.send({});
  });

  app.post('/execute', at, async (request, reply) => execute(request, reply, sandboxOf(request)));
}

async function execute(
  request: FastifyRequest,
  reply: FastifyReply,
  { runtime, state, home }: OpenSandbox,
): Promise<FastifyReply> {
  const { code, context_id, language, env_vars } = body(executeSchema, request);
  const { interpreter, streams } = state;
  const context =
    context_id == null ? interpreter.defaultContext(language ?? 'python', home) : interpreter.get(context_id);
  reply.hijack();
  reply.raw.writeHead(200, streamed);
  reply.raw.flushHeaders();
  const outgoing = new Outgoing(reply.raw);
  const cut = () => void reply.raw.destroy();
  streams.add(cut);
  const keepalive = setInterval(() => void send({ type: 'keepalive' }), keepaliveMs);
  keepalive.unref();
  const send = (line: object) => {
    keepalive.refresh();
    return outgoing.write(`${JSON.stringify(line)}\n`);
  };
  try {
    const { outputs, executionCount, endedBy } = await interpreter.run(
      runtime,
      context,
      code,
      env_vars ?? {},
      {
        // A client that leaves interrupts its code.
        signal: outgoing.gone,
        onProgress: (progress) => {
          if (progress.type === 'output-delta')
            return send({
              type: progress.stream === 'stderr' ? 'stderr' : 'stdout',
              text: progress.text,
              timestamp: new Date().toISOString(),
            });
          return progress.type === 'display' ? send(resultLine(progress)) : undefined;
        },
      },
    );
    const error = errorLine(outputs, endedBy);
    if (error !== undefined) await send(error);
    await send({ type: 'number_of_executions', execution_count: executionCount ?? 0 });
    await send({ type: 'end_of_execution' });
    await outgoing.end();
  } catch (error) {
    if (isGone(error) || outgoing.gone.aborted) cut();
    else {
      const { code: name, message: value } = WorkcellError.isInstance(error)
        ? error
        : { code: 'internal', message: 'The server failed unexpectedly.' };
      await send({ type: 'error', name, value, traceback: '' });
      await send({ type: 'end_of_execution' });
      await outgoing.end();
    }
  } finally {
    clearInterval(keepalive);
    streams.delete(cut);
  }
  return reply;
}

function contextIn(request: FastifyRequest): string {
  return (request.params as { context: string }).context;
}

function body<Schema extends z.ZodType>(schema: Schema, request: FastifyRequest): z.output<Schema> {
  const result = schema.safeParse(request.body ?? {});
  if (result.success) return result.data;
  throw new E2bError(400, result.error.issues.map(({ message }) => message).join('; '));
}

function explain(error: unknown): never {
  throw error instanceof RpcError ? new E2bError(400, error.message) : error;
}
