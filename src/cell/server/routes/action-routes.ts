import { randomUUID } from 'node:crypto';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import * as z from 'zod';
import { parse } from '../../../base/http/parse-request.js';
import { type Action, parseAction, WorkcellError } from '../../../protocol/index.js';
import { clientHeader, framesType, keyHeader, keySchema, linesType } from '../../../protocol/wire.js';
import { answerLines, answerWhole } from '../answer.js';
import type { Call } from '../server-call.js';
import type { ContextOf, ServerContext } from '../server-context.js';

const position = z.coerce.number().int().nonnegative().default(0);
const startQuery = z.object({ from: position, progress: z.enum(['0', '1']).default('1') });
const resumeQuery = z.object({ from: position });

export function actionRoutes(app: FastifyInstance, contextOf: ContextOf): void {
  app.post('/v1/actions', async (request, reply) => {
    const context = contextOf(request);
    const { heartbeatMs } = context.limits;
    const { from, progress } = parse(startQuery, request.query);
    const asLines = wantsLines(request);
    const call = start(context, request, {
      withProgress: asLines && progress === '1',
      framed: wantsFrames(request),
    });
    checkForm(call, request);
    if (asLines) await answerLines(call, reply, { from, heartbeatMs });
    else await answerWhole(call, reply);
    return reply;
  });

  app.get('/v1/actions/:key', async (request, reply) => {
    const { from } = parse(resumeQuery, request.query);
    const { calls, limits } = contextOf(request);
    const { heartbeatMs } = limits;
    const call = calls.find(keyOf(request));
    checkForm(call, request);
    if (wantsLines(request)) await answerLines(call, reply, { from, heartbeatMs });
    else await answerWhole(call, reply);
    return reply;
  });

  app.delete('/v1/actions/:key', async (request, reply) => {
    contextOf(request).calls.cancel(keyOf(request));
    return reply.code(204).send();
  });

  app.delete('/v1/clients/:key', async (request, reply) => {
    await contextOf(request).clients.end(keyOf(request));
    return reply.code(204).send();
  });
}

function start(
  context: ServerContext,
  request: FastifyRequest,
  options: { withProgress: boolean; framed: boolean },
): Call {
  const { calls, clients, events, counters } = context;
  const client = clientOf(request);
  const action = parseAction(request.body, context.executor().actions);
  const given = request.headers[keyHeader];
  const key = given === undefined ? randomUUID() : parse(keySchema, given);
  let isNew = false;
  let cause: number | undefined;
  const call = calls.start(
    key,
    request.bodyHash,
    async (execution) => {
      isNew = true;
      if (given !== undefined && (await context.beginAction?.(key)) === false) throw begunBefore(key);
      cause = events.action(action);
      counters.actions.set(action.action, (counters.actions.get(action.action) ?? 0) + 1);
      clients.starts(client, action);
      const observation = await context.executor().execute(action as Action, execution);
      await clients.ended(client, action, observation);
      return observation;
    },
    options,
  );
  if (!isNew) return call;
  const left = clients.begin(client, () => {
    call.cancel();
    return call.done;
  });
  void call.done.then((outcome) => {
    left();
    if (cause !== undefined) events.outcome(cause, action.action, outcome);
  });
  return call;
}

function begunBefore(key: string): WorkcellError {
  return new WorkcellError(
    'output-not-found',
    `The action with the key "${key}" began before this server started. The events of the cell say what became of it; use a new key to run it again.`,
    { details: { key } },
  );
}

function wantsLines(request: FastifyRequest): boolean {
  return wantsFrames(request) || (request.headers.accept?.includes(linesType) ?? false);
}

/** Positions count the bytes of one form, so an answer that began in frames cannot continue in lines. */
function checkForm(call: Call, request: FastifyRequest): void {
  if (!call.framed || wantsFrames(request) || !wantsLines(request)) return;
  throw new WorkcellError(
    'invalid-action',
    `The action "${call.key}" began with "Accept: ${framesType}"; continue with that, or ask for application/json to get its outcome alone.`,
  );
}

function wantsFrames({ headers }: FastifyRequest): boolean {
  return headers.accept?.includes(framesType) ?? false;
}

/** The client that a request names, where it shares the server with others. */
export function clientOf(request: FastifyRequest): string | undefined {
  const given = request.headers[clientHeader];
  return given === undefined ? undefined : parse(keySchema, given);
}

function keyOf(request: FastifyRequest): string {
  return parse(keySchema, (request.params as { key?: string }).key);
}
