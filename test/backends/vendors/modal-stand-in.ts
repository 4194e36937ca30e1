/** Stands in for Modal: what its SDK 0.11 sends is checked, and what it asks for is done in a sandbox of this machine. */
import { randomUUID } from 'node:crypto';
import { EventEmitter, once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { type GrpcCall, GrpcServer, type Message } from './grpc-server.js';
import { Answer, StandInCloud, type StandInSandbox } from './stand-in.js';

const interfaces = ['modal.proto', 'modal-router.proto'].map((name) =>
  fileURLToPath(new URL(name, import.meta.url)),
);

const tagsSchema = z.array(z.strictObject({ tagName: z.string().min(1), tagValue: z.string().min(1) }));

/** What the backend asks for, by value; the server has refused fields that the interface does not have. */
const createSchema = z.object({
  appId: z.literal('ap-1'),
  tags: tagsSchema,
  definition: z.object({
    imageId: z.literal('im-1'),
    timeoutSecs: z.int().min(1).max(86_400),
    idleTimeoutSecs: z.int().min(1).max(86_400),
    openPorts: z.object({ ports: z.tuple([z.strictObject({ port: z.int() })]) }),
    networkAccess: z.object({ networkAccessType: z.enum(['OPEN', 'ALLOWLIST']) }),
  }),
});
const appSchema = z.object({
  appName: z.string().min(1),
  objectCreationType: z.literal('OBJECT_CREATION_TYPE_CREATE_IF_MISSING'),
});
const imageSchema = z.object({
  appId: z.literal('ap-1'),
  builderVersion: z.literal('2025.06'),
  image: z.object({ dockerfileCommands: z.tuple([z.string().startsWith('FROM ')]) }),
});
const listSchema = z.object({
  appId: z.literal('ap-1'),
  beforeTimestamp: z.number().default(0),
  tags: tagsSchema,
});
const execSchema = z.object({
  execId: z.uuid(),
  commandArgs: z.array(z.string()).min(1),
  stdoutConfig: z.literal('TASK_EXEC_STDOUT_CONFIG_PIPE'),
  stderrConfig: z.literal('TASK_EXEC_STDERR_CONFIG_PIPE'),
  timeoutSecs: z.int().positive().optional(),
});
const fileTool = '/__modal/.bin/modal-sandbox-fs-tools';
const fileSchema = z.strictObject({ WriteFile: z.strictObject({ path: z.string().startsWith('/') }) });

interface Exec {
  readonly ended: Promise<{ exitCode: number; stdout: string; stderr: string }>;
  /** Of one that waits for its input. */
  readonly feed?: (content: Buffer) => void;
}

export class ModalStandIn extends StandInCloud {
  readonly key = 'a-modal-secret-of-the-test';
  readonly keyId = 'ak-of-the-test';
  readonly #grpc = new GrpcServer(interfaces, (call) => this.#serve(call));
  readonly #execs = new Map<string, Exec>();
  readonly #tunnels = new Map<string, Server>();
  readonly #sockets = new Set<Socket>();
  readonly #ports = new Map<string, number>();
  /** That of a sandbox is short-lived at first. */
  readonly #routerTokens = new Map<string, string>();

  override get forbidden(): string[] {
    return this.#grpc.forbidden;
  }

  cut(): void {
    for (const socket of this.#sockets) socket.destroy();
    this.#grpc.cut();
  }

  async start(): Promise<this> {
    this.url = `http://127.0.0.1:${await this.#grpc.listen()}`;
    return this;
  }

  async close(): Promise<void> {
    await this.endAll();
    this.#grpc.close();
  }

  override async end(id: string): Promise<void> {
    this.#tunnels.get(id)?.close();
    this.#tunnels.delete(id);
    await super.end(id);
  }

  async #serve(call: GrpcCall): Promise<Message | AsyncIterable<Message> | 'cut' | 'hang'> {
    const fault = this.faults.take({ method: 'POST', path: call.path });
    if (fault instanceof Answer && fault.status === 200) return fault.body as Message;
    if (fault instanceof Answer) throw fault;
    if (fault !== undefined) return fault;
    const { headers, method } = call;
    const [message = {}] = call.messages;
    if (call.path.startsWith('/modal.task_command_router.')) return this.#route(call, message);
    if (headers['x-modal-token-id'] !== this.keyId || headers['x-modal-token-secret'] !== this.key)
      throw new Answer(401, { message: 'Token validation failed' });
    if (method === 'AuthTokenGet') return { token: tokenFor('auth', 1200) };
    if (!String(headers['x-modal-auth-token']).includes('.'))
      throw new Answer(401, { message: 'no auth token' });
    return this.#control(method, message);
  }

  async #control(method: string, message: Message): Promise<Message | AsyncIterable<Message>> {
    switch (method) {
      case 'AppGetOrCreate':
        appSchema.parse(message);
        return { appId: 'ap-1' };
      case 'EnvironmentGetOrCreate':
        return {
          environmentId: 'en-1',
          metadata: { name: 'main', settings: { imageBuilderVersion: '2025.06' } },
        };
      case 'ImageGetOrCreate':
        imageSchema.parse(message);
        // It is built first, which the client waits for.
        return { imageId: 'im-1' };
      case 'ImageJoinStreaming':
        return each([{ entryId: '1-0' }, { result: { status: 'GENERIC_STATUS_SUCCESS' } }]);
      case 'ImageFromId':
        return { imageId: String(message.imageId) };
      case 'SandboxCreateV2':
        return this.#create(message);
      case 'SandboxListV2':
        return this.#list(message);
      default:
        return this.#ofSandbox(method, this.#sandbox(message.sandboxId));
    }
  }

  async #create(message: Message): Promise<Message> {
    const { tags, definition } = createSchema.parse(message);
    const labels = Object.fromEntries(tags.map(({ tagName, tagValue }) => [tagName, tagValue]));
    const sandbox = await this.make(labels, 'creating');
    const [{ port }] = definition.openPorts.ports;
    await this.#openTunnel(sandbox, port);
    return { sandboxId: sandbox.id, commandRouterAccess: this.#access(sandbox, 10) };
  }

  async #openTunnel({ id, runtime }: StandInSandbox, port: number): Promise<void> {
    const tunnel = createServer(async (socket) => {
      socket.on('error', () => {});
      this.#sockets.add(socket);
      socket.once('close', () => this.#sockets.delete(socket));
      const inside = (await runtime.connect(port).catch(() => undefined)) as Duplex | undefined;
      if (inside === undefined) return void socket.destroy();
      inside.on('error', () => {});
      for (const [one, other] of [[socket, inside] as const, [inside, socket] as const])
        one.pipe(other).on('close', () => one.destroy());
    });
    tunnel.listen(0, '127.0.0.1');
    await once(tunnel, 'listening');
    this.#tunnels.set(id, tunnel);
    this.#ports.set(id, port);
  }

  #list(message: Message): Message {
    const { tags, beforeTimestamp } = listSchema.parse(message);
    const fitting = [...this.sandboxes.values()].filter(
      ({ labels, createdAt }) =>
        (beforeTimestamp === 0 || createdAt < beforeTimestamp) &&
        tags.every(({ tagName, tagValue }) => labels[tagName] === tagValue),
    );
    const newest = fitting.sort((one, other) => other.createdAt - one.createdAt);
    return { sandboxes: newest.map(({ id, createdAt }) => ({ id, createdAt })) };
  }

  async #ofSandbox(method: string, sandbox: StandInSandbox): Promise<Message> {
    const { id, labels } = sandbox;
    switch (method) {
      case 'SandboxGetTaskIdV2':
        // A new one is not scheduled at once.
        return sandbox.asked++ === 0 ? {} : { taskId: `ta-${id}` };
      case 'SandboxGetCommandRouterAccess':
        return this.#access(sandbox, 600);
      case 'SandboxGetTunnelsV2': {
        const tunnel = this.#tunnels.get(id);
        if (tunnel === undefined) throw new Answer(404, { message: 'no tunnel' });
        const { port } = tunnel.address() as AddressInfo;
        return { tunnels: [{ host: '127.0.0.1', port, containerPort: this.#ports.get(id) }] };
      }
      case 'SandboxTagsGetV2':
        return { tags: Object.entries(labels).map(([tagName, tagValue]) => ({ tagName, tagValue })) };
      case 'SandboxTerminateV2':
        await this.end(id);
        return {};
      default:
        throw new Answer(400, { message: `no ${method}` });
    }
  }

  #access({ id }: StandInSandbox, seconds: number): { jwt: string; url: string } {
    const jwt = tokenFor(id, seconds);
    // The first one has expired when it is used, so that the client has to ask for another.
    this.#routerTokens.set(id, seconds < 30 ? '' : jwt);
    return { jwt, url: this.url.replace('http:', 'https:') };
  }

  #sandbox(id: unknown): StandInSandbox {
    const sandbox = this.sandboxes.get(String(id));
    if (sandbox === undefined) throw new Answer(404, { message: `Sandbox ${String(id)} not found` });
    return sandbox;
  }

  async #route(
    { method, headers, messages }: GrpcCall,
    message: Message,
  ): Promise<Message | AsyncIterable<Message>> {
    const { taskId, execId } = (message.start ?? message) as Message;
    const sandbox = this.#sandbox(String(taskId).replace('ta-', ''));
    if (headers.authorization !== `Bearer ${this.#routerTokens.get(sandbox.id)}`)
      throw new Answer(401, { message: 'The token has expired' });
    if (method === 'TaskExecStart') {
      this.#begin(sandbox, execSchema.parse(message));
      return {};
    }
    const exec = this.#execs.get(String(execId));
    if (exec === undefined) throw new Answer(404, { message: 'no such exec' });
    switch (method) {
      case 'TaskExecStdinWriteStream':
        exec.feed?.(
          Buffer.concat(messages.flatMap(({ data }) => (data === undefined ? [] : [data as Buffer]))),
        );
        return {};
      case 'TaskExecStdinStatus':
        return { numBytesWritten: 0, closed: false };
      case 'TaskExecStdioRead': {
        const { stdout, stderr } = await exec.ended;
        const isStderr = message.fileDescriptor === 'TASK_EXEC_STDIO_FILE_DESCRIPTOR_STDERR';
        const data = Buffer.from(isStderr ? stderr : stdout).subarray(Number(message.offset ?? 0));
        return each(data.length === 0 ? [] : [{ data }]);
      }
      case 'TaskExecWait':
        return { code: (await exec.ended).exitCode };
      default:
        throw new Answer(400, { message: `no ${method}` });
    }
  }

  /** The same again with the id of an earlier one is that one. */
  #begin(sandbox: StandInSandbox, { execId, commandArgs }: z.output<typeof execSchema>): void {
    if (this.#execs.has(execId)) return;
    const [program, argument = ''] = commandArgs;
    if (program === fileTool) {
      const { path } = fileSchema.parse(JSON.parse(argument)).WriteFile;
      const input = new EventEmitter();
      const ended = once(input, 'content').then(async ([content]) => {
        await this.upload(sandbox, path, content as Buffer);
        return { exitCode: 0, stdout: '', stderr: '' };
      });
      this.#execs.set(execId, { ended, feed: (content) => void input.emit('content', content) });
    } else this.#execs.set(execId, { ended: this.run(sandbox, commandArgs) });
  }
}

/** Its client reads when it expires. */
function tokenFor(who: string, seconds: number): string {
  const claims = { sub: who, jti: randomUUID(), exp: Math.floor(Date.now() / 1000) + seconds };
  return ['{}', JSON.stringify(claims), 'signature']
    .map((part) => Buffer.from(part).toString('base64url'))
    .join('.');
}

async function* each(messages: readonly Message[]): AsyncGenerator<Message> {
  yield* messages;
}
