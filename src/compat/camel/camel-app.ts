/** CAMEL's tool-server protocol over tools that run elsewhere: one path for each tool, JSON within JSON. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { createAccess } from '../../base/http/access.js';
import { createHttpApp, type Mount, mount, protect } from '../../base/http/http-app.js';
import { type Exposure, lenientToken } from '../../base/http/http-options.js';
import { checkExposure, type HttpListener, listen, withBoundHost } from '../../base/http/listen.js';
import { WorkcellError } from '../../protocol/index.js';
import { describeApi, describePage } from './camel-docs.js';
import { namedArguments } from './named-arguments.js';

/** A tool as the server offers it. */
export interface ServedTool {
  readonly name: string;
  readonly description: string;
  /** JSON Schema; its properties have the order of positional arguments. */
  readonly parameters: { readonly [keyword: string]: unknown };
}

/** The token is the password of HTTP Basic, with any user. Without a token, requests need none. */
export interface CamelOptions extends Pick<Exposure, 'token' | 'hosts' | 'origins'> {
  /** The entry points as the caller gave them. */
  readonly toolkits: readonly string[];
  /** In order; of several with one name the first answers. Requests wait for tools that are still to come. */
  readonly tools: readonly ServedTool[] | Promise<readonly ServedTool[]>;
}

/** Calls tools; for example a runtime with registered tools. */
export interface ToolCaller {
  callTool(
    name: string,
    input: Record<string, unknown>,
    context: { signal: AbortSignal },
  ): Promise<{ result: unknown; stdout: string }>;
}

/** Register it in the application of a server, in its own scope. */
export function camelTools(runtime: ToolCaller, options: CamelOptions): Mount['routes'] {
  const { toolkits } = options;
  const tools = Promise.resolve(options.tools);
  // Whoever waits for them gets the error.
  tools.catch(() => {});
  const access = createAccess({ token: options.token });
  return (scope) => {
    protect(scope, ({ headers }) =>
      access.checkToken({ ...headers, authorization: asBearer(headers.authorization) }),
    );
    scope.setErrorHandler((error, _request, reply) => answerFailure(reply, error));
    // Its clients take any answer for readiness, so this one waits for nothing.
    scope.setNotFoundHandler(async (request, reply) => {
      const path = request.url.slice(scope.prefix.length).split('?', 1)[0] ?? '';
      const known = pages.has(path) || (path.length > 1 && (await find(tools, path.slice(1))) !== undefined);
      return known
        ? reply.code(405).send({ detail: 'Method Not Allowed' })
        : reply.code(404).send({ detail: 'Not Found' });
    });
    scope.get('/health', async () => ({
      status: 'ok',
      toolkits,
      endpoints: (await tools).map(({ name }) => name),
    }));
    scope.get('/openapi.json', async () => describeApi(await tools));
    for (const path of ['/docs', '/redoc']) {
      scope.get(path, async (_request, reply) =>
        reply
          .type('text/html; charset=utf-8')
          .header('content-security-policy', "default-src 'none'; style-src 'unsafe-inline'")
          .send(describePage(await tools)),
      );
    }
    scope.post<{ Params: { tool: string } }>('/:tool', async (request, reply) => {
      const tool = await find(tools, request.params.tool);
      if (tool === undefined) return reply.code(404).send({ detail: 'Not Found' });
      return callTool(tool, runtime, request, reply);
    });
  };
}

const pages: ReadonlySet<string> = new Set(['/health', '/openapi.json', '/docs', '/redoc']);

async function find(tools: Promise<readonly ServedTool[]>, wanted: string): Promise<ServedTool | undefined> {
  return (await tools).find(({ name }) => name === wanted);
}

/** `also`: what else the server answers. */
export async function serveCamel(
  runtime: ToolCaller,
  options: CamelOptions & Exposure,
  also: readonly Mount[] = [],
): Promise<HttpListener> {
  const mounts = [{ prefix: '', token: lenientToken, routes: camelTools(runtime, options) }, ...also];
  checkExposure(options, mounts);
  const app = createHttpApp({ access: createAccess(withBoundHost(options)), sendFailure: answerFailure });
  mount(app, mounts);
  return listen(app, options.listen);
}

async function callTool(
  tool: ServedTool,
  runtime: ToolCaller,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<unknown> {
  if (!isObject(request.body)) return reply.code(422).send(unprocessable(request.body));
  const stop = new AbortController();
  reply.raw.once('close', () => stop.abort());
  const { args, kwargs, redirect_stdout: redirect } = request.body;
  const input = namedArguments(tool, args, kwargs);
  const { result, stdout } = await runtime.callTool(tool.name, input, { signal: stop.signal });
  const output = JSON.stringify(result);
  return redirect ? { output, stdout } : { output };
}

/** The client puts user and password into the address and sends them as HTTP Basic; the password is the token. */
function asBearer(authorization: string | undefined): string | undefined {
  const encoded = /^basic +(\S+)$/i.exec(authorization ?? '')?.[1];
  if (encoded === undefined) return authorization;
  const [, password = ''] = /^[^:]*:(.*)$/s.exec(Buffer.from(encoded, 'base64').toString('utf8')) ?? [];
  return `Bearer ${password}`;
}

/** Its client shows the body of a failure to the model as it is. */
function answerFailure(reply: FastifyReply, error: unknown): FastifyReply {
  const { statusCode, message } = error as { statusCode?: number; message: string };
  if (WorkcellError.isInstance(error) && error.code === 'unauthorized')
    return reply.code(401).header('www-authenticate', 'Basic').send({ detail: 'Not authenticated' });
  if (WorkcellError.isInstance(error) && error.code === 'request-refused')
    return reply.code(403).send({ detail: message });
  if (statusCode === 413 || (WorkcellError.isInstance(error) && error.code === 'request-too-large'))
    return reply.code(413).send({ detail: message });
  const unreadable = WorkcellError.isInstance(error) && error.code === 'invalid-action';
  if (unreadable || (statusCode !== undefined && statusCode < 500))
    return reply.code(422).send(unprocessable(undefined, message));
  return reply.code(500).send({ detail: 'Internal Server Error', error_message: message });
}

function unprocessable(input: unknown, message = 'Input should be a valid dictionary') {
  return { detail: [{ type: 'dict_type', loc: ['body'], msg: message, input: input ?? null }] };
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
