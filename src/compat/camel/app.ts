/** CAMEL's tool-server protocol over tools that run elsewhere: one path for each tool, JSON within JSON. */
import { type FastifyInstance, type FastifyReply, fastify } from 'fastify';
import { createAccess } from '../../cell/server/access.js';
import { acceptJson } from '../../cell/server/json-body.js';
import { defaultLimits } from '../../cell/server/options.js';
import { WorkcellError } from '../../protocol/index.js';
import { namedArguments } from './arguments.js';

/** A tool as the server offers it. */
export interface ServedTool {
  readonly name: string;
  readonly description: string;
  /** JSON Schema; the order of its properties is that of positional arguments. */
  readonly parameters: { readonly [keyword: string]: unknown };
}

export interface CamelOptions {
  /** Password of HTTP Basic, with any user. Without it none is needed. */
  readonly token?: string | undefined;
  readonly hosts?: readonly string[] | undefined;
  /** The entry points as they were given. */
  readonly toolkits: readonly string[];
  /** In order; of several with one name the first answers. */
  readonly tools: readonly ServedTool[];
  call(
    tool: string,
    input: Record<string, unknown>,
    signal: AbortSignal,
  ): Promise<{ result: unknown; stdout: string }>;
}

export function createCamelApp(options: CamelOptions): FastifyInstance {
  const { token, hosts, toolkits, tools } = options;
  const access = createAccess({ token, hosts });
  const app = fastify({ bodyLimit: defaultLimits.bodyBytes, forceCloseConnections: true });
  app.addHook('onRequest', (request, _reply, done) => {
    access.checkSource(request.headers);
    access.checkToken({ ...request.headers, authorization: asBearer(request.headers.authorization) });
    done();
  });
  app.setErrorHandler((error, _request, reply) => answerFailure(reply, error));
  app.setNotFoundHandler((request, reply) => {
    const known = request.url === '/health' || tools.some(({ name }) => request.url === `/${name}`);
    return known
      ? reply.code(405).send({ detail: 'Method Not Allowed' })
      : reply.code(404).send({ detail: 'Not Found' });
  });
  acceptJson(app, defaultLimits);
  app.get('/health', () => ({ status: 'ok', toolkits, endpoints: tools.map(({ name }) => name) }));
  app.get('/docs', (_request, reply) => reply.type('text/plain; charset=utf-8').send(describe(tools)));
  for (const tool of new Map([...tools].reverse().map((entry) => [entry.name, entry])).values()) {
    app.post(`/${tool.name}`, async (request, reply) => {
      if (!isObject(request.body)) return reply.code(422).send(unprocessable(request.body));
      const stop = new AbortController();
      reply.raw.once('close', () => stop.abort());
      const { args, kwargs, redirect_stdout: redirect } = request.body;
      const input = namedArguments(tool, args, kwargs);
      const { result, stdout } = await options.call(tool.name, input, stop.signal);
      const output = JSON.stringify(result);
      return redirect ? { output, stdout } : { output };
    });
  }
  return app;
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
  if (statusCode !== undefined && statusCode < 500)
    return reply.code(422).send(unprocessable(undefined, message));
  return reply.code(500).send({ detail: 'Internal Server Error', error_message: message });
}

function unprocessable(input: unknown, message = 'Input should be a valid dictionary') {
  return { detail: [{ type: 'dict_type', loc: ['body'], msg: message, input: input ?? null }] };
}

function describe(tools: readonly ServedTool[]): string {
  return tools
    .map(({ name, description }) => `POST /${name}\n  ${description.replaceAll('\n', '\n  ')}\n`)
    .join('\n');
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
