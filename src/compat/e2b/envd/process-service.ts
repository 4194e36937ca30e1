/** `process.Process`: what clients start, connect to, feed and signal. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import * as z from 'zod';
import { WorkcellError } from '../../../protocol/index.js';
import { isGone, RpcError, toRpcError } from '../e2b-errors.js';
import type { OpenSandbox } from '../e2b-sandboxes.js';
import { acceptStreams, answerStream, message, messagesOf, RpcStream, timeoutOf } from './connect-rpc.js';
import { insidePath } from './inside-path.js';
import { type Followed, FollowedProcess, FollowedTerminal, type ProcessConfig } from './processes.js';

const size = z.object({
  cols: z.int().min(1).max(1000).default(80),
  rows: z.int().min(1).max(1000).default(24),
});

/** It stays as long as the end of its process. */
const longestTag = 1024;

const startSchema = z.object({
  process: z.object({
    cmd: z.string().min(1),
    args: z.array(z.string()).default([]),
    envs: z.record(z.string(), z.string()).default({}),
    cwd: z.string().optional(),
  }),
  pty: z.object({ size: size.optional() }).optional(),
  tag: z.string().max(longestTag).optional(),
  /** Absent means a pipe, as it was before clients could choose. */
  stdin: z.boolean().default(true),
});

const process = z
  .object({ pid: z.int().optional(), tag: z.string().optional() })
  .refine(({ pid, tag }) => (pid === undefined) !== (tag === undefined), 'needs a pid or a tag');
const selectorSchema = z.object({ process });
const input = z.union([z.object({ stdin: z.base64() }), z.object({ pty: z.base64() })]);
const inputSchema = z.object({ process, input });
/** What a stream of input begins with, and what follows. */
const streamStartSchema = z.object({ start: selectorSchema });
const streamDataSchema = z.union([
  z.object({ data: z.object({ input }) }),
  z.object({ keepalive: z.object({}) }),
]);
const signals = { SIGNAL_SIGTERM: 'SIGTERM', SIGNAL_SIGKILL: 'SIGKILL' } as const;
const signalSchema = z.object({ process, signal: z.enum(['SIGNAL_SIGTERM', 'SIGNAL_SIGKILL']) });
const updateSchema = z.object({ process, pty: z.object({ size }).optional() });

type SandboxOf = (request: FastifyRequest) => OpenSandbox;

export function processService(app: FastifyInstance, sandboxOf: SandboxOf, options: object): void {
  const find = (request: FastifyRequest, selector: z.output<typeof process>) => {
    const { state, executor } = sandboxOf(request);
    return state.processes.find(selector, executor);
  };
  const unary = (name: string, handler: (request: FastifyRequest) => Promise<object>) =>
    app.post(`/process.Process/${name}`, options, handler);

  app.post('/process.Process/Start', options, async (request, reply) => {
    const sandbox = sandboxOf(request);
    const asked = message(startSchema, request.body);
    return stream(request, reply, sandbox, () => start(sandbox, asked, timeoutOf(request)));
  });

  app.post('/process.Process/Connect', options, async (request, reply) => {
    const { process } = message(selectorSchema, request.body);
    return stream(request, reply, sandboxOf(request), async () => ({
      followed: await find(request, process),
      begin: () => {},
    }));
  });

  unary('List', async (request) => {
    const { state, executor } = sandboxOf(request);
    return { processes: await state.processes.list(executor) };
  });

  unary('SendInput', async (request) => {
    const { process, input } = message(inputSchema, request.body);
    await (await find(request, process)).write(bytesOf(input));
    return {};
  });

  app.register(async (scope) => {
    acceptStreams(scope);
    const config = { streams: true };
    scope.post('/process.Process/StreamInput', { ...options, config }, async (request, reply) => {
      const feed = async () => {
        let followed: Followed | undefined;
        for await (const one of messagesOf(request)) {
          if (followed === undefined) {
            followed = await find(request, message(streamStartSchema, one).start.process);
            continue;
          }
          const next = message(streamDataSchema, one);
          if ('data' in next) await followed.write(bytesOf(next.data.input));
        }
      };
      return answerStream(reply, await feed().then(() => undefined, toRpcError));
    });
  });

  unary('CloseStdin', async (request) => {
    await (await find(request, message(selectorSchema, request.body).process)).closeStdin();
    return {};
  });

  unary('SendSignal', async (request) => {
    const { process, signal } = message(signalSchema, request.body);
    await (await find(request, process)).kill(signals[signal]);
    return {};
  });

  unary('Update', async (request) => {
    const { process, pty } = message(updateSchema, request.body);
    const found = await find(request, process);
    if (pty !== undefined) found.resize(pty.size.cols, pty.size.rows);
    return {};
  });
}

function bytesOf(given: z.output<typeof input>): Buffer {
  return Buffer.from('stdin' in given ? given.stdin : given.pty, 'base64');
}

interface Started {
  readonly followed: Followed;
  /** Call it when somebody listens, so that nothing gets lost. */
  begin(): void;
}

async function start(
  { state, executor, home, record, facts }: OpenSandbox,
  { process, pty, tag, stdin }: z.output<typeof startSchema>,
  timeoutMs: number | undefined,
): Promise<Started> {
  const config: ProcessConfig = { ...process, cwd: insidePath(process.cwd ?? '', home) };
  const argv = [config.cmd, ...config.args];
  const env = {
    HOME: home,
    E2B_SANDBOX: 'true',
    E2B_SANDBOX_ID: record.id,
    E2B_TEMPLATE_ID: facts.template,
    ...config.envs,
  };
  try {
    if (pty !== undefined) {
      const { cols: columns, rows } = size.parse(pty.size ?? {});
      const terminal = await executor.openTerminal({ argv, env, cwd: config.cwd, columns, rows });
      const followed = new FollowedTerminal(terminal, state.processes.nextTerminalPid(), config, tag);
      state.processes.add(followed);
      state.log.add('Terminal opened', { pid: String(followed.pid), command: argv.join(' ') });
      return { followed, begin: () => followed.follow(timeoutMs) };
    }
    const { id, pid } = await executor.execute<'start_process'>({
      action: 'start_process',
      argv,
      env,
      encoding: 'utf8',
      ...(config.cwd !== undefined && { cwd: config.cwd }),
      ...(timeoutMs !== undefined && { timeoutMs }),
      ...(stdin && { keepStdin: true }),
    });
    const followed = new FollowedProcess(executor, id, pid, config, tag);
    state.processes.add(followed);
    state.log.add('Process started', { pid: String(pid), command: argv.join(' ') });
    return { followed, begin: () => followed.follow() };
  } catch (error) {
    if (WorkcellError.isInstance(error) && ['not-found', 'not-a-directory'].includes(error.code))
      throw new RpcError('invalid_argument', `cwd '${process.cwd}' does not exist`);
    throw error;
  }
}

/** Sends the events of a process until it ends or the client leaves; the process continues without it. */
async function stream(
  request: FastifyRequest,
  reply: FastifyReply,
  { state }: OpenSandbox,
  open: () => Promise<Started>,
): Promise<FastifyReply> {
  const outgoing = new RpcStream(request, reply, state.streams, { event: { keepalive: {} } });
  try {
    const { followed, begin } = await open();
    await outgoing.send({ event: { start: { pid: followed.pid } } });
    const leave = followed.listen({
      onData: (data) => outgoing.send({ event: { data } }),
      onEnd: (end) => {
        if (isGone(end)) outgoing.cut();
        else if (end instanceof Error) void outgoing.end(toRpcError(end));
        else void outgoing.send({ event: { end } }).then(() => outgoing.end());
      },
    });
    outgoing.gone.addEventListener('abort', leave);
    if (outgoing.gone.aborted) leave();
    begin();
  } catch (error) {
    await outgoing.end(toRpcError(error));
  }
  return reply;
}
