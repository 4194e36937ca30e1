/** The part of the Docker Engine's HTTP API that Workcell uses. */
import { type IncomingMessage, request as requestPlain } from 'node:http';
import { request as requestTls } from 'node:https';
import { type Duplex, pipeline, type Readable } from 'node:stream';
import { json, text } from 'node:stream/consumers';
import type { SecureContextOptions } from 'node:tls';

/** Where an engine listens. */
export type EngineAddress =
  | { readonly socketPath: string }
  | { readonly host: string; readonly port: number; readonly tls?: SecureContextOptions | undefined };

/** A mount of a container, in the form of the engine's API. */
export interface Mount {
  readonly Type: 'bind' | 'volume';
  readonly Source: string;
  readonly Target: string;
  readonly ReadOnly?: boolean;
  readonly VolumeOptions?: {
    readonly NoCopy: boolean;
    readonly Labels: Readonly<Record<string, string>>;
    readonly DriverConfig: { readonly Name: string; readonly Options: Readonly<Record<string, string>> };
  };
}

/** The description of a container: the body of `POST /containers/create`, and its query. */
export interface ContainerDescription {
  readonly name?: string | undefined;
  readonly platform?: string | undefined;
  readonly Image: string;
  readonly [field: string]: unknown;
}

/** A container in a list. */
export interface ContainerInfo {
  readonly Id: string;
  readonly ImageID: string;
  readonly Labels: Readonly<Record<string, string>>;
  readonly State: string;
  /** In seconds since 1970. */
  readonly Created: number;
  readonly Mounts: readonly { readonly Destination: string; readonly Source: string }[];
  readonly Ports: readonly { readonly PublicPort?: number }[];
}

/** An image in a list. */
interface ImageInfo {
  readonly Id: string;
  readonly RepoTags: readonly string[] | null;
  readonly Labels: Readonly<Record<string, string>> | null;
  /** In seconds since 1970. */
  readonly Created: number;
  readonly Size: number;
}

/** The engine answered with a refusal. */
class EngineError extends Error {
  constructor(
    readonly statusCode: number,
    message: string,
  ) {
    super(message);
  }
}

type Method = 'GET' | 'HEAD' | 'POST' | 'DELETE';
type Query = Readonly<Record<string, unknown>>;

interface Call {
  readonly query?: Query | undefined;
  /** Sent as JSON. */
  readonly body?: unknown;
  /** Sent as a tar archive. */
  readonly archive?: Readable | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Speaks to one engine. A refusal rejects with an EngineError, a connection that fails with the error of Node. */
export class DockerClient {
  readonly #address: EngineAddress;
  readonly #idle: boolean;

  /** `idle`: its connections do not keep this process from ending, and none serves two requests. */
  constructor(address: EngineAddress, { idle = false }: { idle?: boolean } = {}) {
    this.#address = address;
    this.#idle = idle;
  }

  async ping(): Promise<void> {
    await this.send('GET', '/_ping');
  }

  version(): Promise<{ Version: string }> {
    return this.ask('GET', '/version');
  }

  /** What the engine's files take on disk. */
  df(): Promise<{ LayersSize?: number }> {
    return this.ask('GET', '/system/df');
  }

  getEvents({ filters }: { filters: Query }): Promise<Readable> {
    return this.open('GET', '/events', { query: { filters } });
  }

  listContainers(query: { all?: boolean; filters?: Query } = {}): Promise<ContainerInfo[]> {
    return this.ask('GET', '/containers/json', { query });
  }

  async createContainer({ name, platform, ...body }: ContainerDescription): Promise<Container> {
    const { Id } = await this.ask<{ Id: string }>('POST', '/containers/create', {
      query: { name, platform },
      body,
    });
    return this.getContainer(Id);
  }

  getContainer(id: string): Container {
    return new Container(this, id);
  }

  listImages(query: { filters?: Query } = {}): Promise<ImageInfo[]> {
    return this.ask('GET', '/images/json', { query });
  }

  getImage(name: string): Image {
    return new Image(this, name);
  }

  /** Fetches an image; the stream reports progress. */
  pull(
    image: string,
    options: { platform?: string | undefined; signal?: AbortSignal | undefined },
  ): Promise<Readable> {
    const { platform, signal } = options;
    return this.open('POST', '/images/create', { query: { fromImage: image, platform }, signal });
  }

  /** Builds an image from a context that is a tar archive; the stream reports progress. */
  buildImage(archive: Readable, { signal, ...query }: Query & { signal?: AbortSignal }): Promise<Readable> {
    return this.open('POST', '/build', { query, archive, signal });
  }

  async findVolume(name: string): Promise<unknown> {
    return this.ask('GET', `/volumes/${segment(name)}`);
  }

  async connectNetwork(name: string, container: string): Promise<void> {
    await this.send('POST', `/networks/${segment(name)}/connect`, { body: { Container: container } });
  }

  /** For a request with a JSON answer. */
  async ask<Answer>(method: Method, path: string, call: Call = {}): Promise<Answer> {
    return (await json(await this.open(method, path, call))) as Answer;
  }

  /** For a request whose answer does not matter. */
  async send(method: Method, path: string, call: Call = {}): Promise<void> {
    (await this.open(method, path, call)).resume();
  }

  /** For a request whose answer is a stream. */
  async open(method: Method, path: string, call: Call = {}): Promise<IncomingMessage> {
    const answer = await new Promise<IncomingMessage>((resolve, reject) => {
      const request = this.#request(method, path, call);
      request.once('response', resolve);
      request.on('error', reject);
      send(request, call);
    });
    return accepted(answer);
  }

  /** For requests that the engine answers by upgrading the connection. */
  upgrade(path: string, call: Call): Promise<Duplex> {
    return new Promise((resolve, reject) => {
      const request = this.#request('POST', path, call, { connection: 'Upgrade', upgrade: 'tcp' });
      request.once('upgrade', (_answer, socket, head) => {
        if (head.length > 0) socket.unshift(head);
        resolve(socket);
      });
      request.once('response', (answer) => accepted(answer).then(() => reject(notUpgraded()), reject));
      request.on('error', reject);
      send(request, call);
    });
  }

  #request(method: Method, path: string, { query, body, archive, signal }: Call, more: object = {}) {
    const { tls, ...address } = { tls: undefined, ...this.#address };
    const headers = {
      host: 'docker',
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...(archive !== undefined && { 'content-type': 'application/x-tar' }),
      ...more,
    };
    const request = (tls === undefined ? requestPlain : requestTls)({
      ...address,
      ...tls,
      method,
      path: `${path}${written(query)}`,
      headers,
      ...(this.#idle && { agent: false }),
      ...(signal !== undefined && { signal }),
    });
    if (this.#idle) request.once('socket', (socket) => socket.unref());
    return request;
  }
}

/** One container of an engine. */
export class Container {
  readonly #client: DockerClient;
  readonly #path: string;

  constructor(
    client: DockerClient,
    readonly id: string,
  ) {
    this.#client = client;
    this.#path = `/containers/${segment(id)}`;
  }

  inspect(): Promise<{
    NetworkSettings: { Ports?: Record<string, { HostPort: string }[] | null> };
  }> {
    return this.#client.ask('GET', `${this.#path}/json`);
  }

  start(): Promise<void> {
    return this.#client.send('POST', `${this.#path}/start`);
  }

  pause(): Promise<void> {
    return this.#client.send('POST', `${this.#path}/pause`);
  }

  unpause(): Promise<void> {
    return this.#client.send('POST', `${this.#path}/unpause`);
  }

  /** `v` removes its anonymous volumes too. */
  remove(query: { force?: boolean; v?: boolean } = {}): Promise<void> {
    return this.#client.send('DELETE', this.#path, { query });
  }

  wait(query: { condition: 'next-exit' | 'removed' }): Promise<{ StatusCode: number }> {
    return this.#client.ask('POST', `${this.#path}/wait`, { query });
  }

  /** Its standard streams, multiplexed. */
  attach(streams: { stdin: boolean; stdout: boolean; stderr: boolean }): Promise<Duplex> {
    return this.#client.upgrade(`${this.#path}/attach`, { query: { stream: true, ...streams } });
  }

  /** Starts another program inside. Returns its standard streams, multiplexed. */
  async exec(program: { Cmd: readonly string[]; User: string }): Promise<Duplex> {
    const streams = { AttachStdin: true, AttachStdout: true, AttachStderr: true };
    const { Id } = await this.#client.ask<{ Id: string }>('POST', `${this.#path}/exec`, {
      body: { ...program, ...streams },
    });
    return this.#client.upgrade(`/exec/${segment(Id)}/start`, { body: { Detach: false, Tty: false } });
  }

  /** Rejects with status 404 when there is no such file. */
  infoArchive(query: { path: string }): Promise<void> {
    return this.#client.send('HEAD', `${this.#path}/archive`, { query });
  }

  /** A file or directory, as a tar archive. */
  getArchive(query: { path: string }): Promise<Readable> {
    return this.#client.open('GET', `${this.#path}/archive`, { query });
  }
}

/** One image of an engine. */
class Image {
  readonly #client: DockerClient;
  readonly #path: string;

  constructor(client: DockerClient, name: string) {
    this.#client = client;
    this.#path = `/images/${name.split('/').map(segment).join('/')}`;
  }

  inspect(): Promise<{ Id: string; Config: { User: string } }> {
    return this.#client.ask('GET', `${this.#path}/json`);
  }

  tag(query: { repo: string; tag: string }): Promise<void> {
    return this.#client.send('POST', `${this.#path}/tag`, { query });
  }

  remove(): Promise<void> {
    return this.#client.send('DELETE', this.#path);
  }
}

function send(request: ReturnType<typeof requestPlain>, { body, archive }: Call): void {
  // An error of either side reaches the request, whose listener reports it.
  if (archive !== undefined) pipeline(archive, request, () => {});
  else request.end(body === undefined ? undefined : JSON.stringify(body));
}

async function accepted(answer: IncomingMessage): Promise<IncomingMessage> {
  const { statusCode = 0, statusMessage = '' } = answer;
  if (statusCode < 400) return answer;
  throw new EngineError(statusCode, (await reasonIn(answer)) || statusMessage || `status ${statusCode}`);
}

async function reasonIn(answer: IncomingMessage): Promise<string> {
  const said = await text(answer);
  try {
    return String((JSON.parse(said) as { message?: unknown }).message ?? said);
  } catch {
    return said;
  }
}

function notUpgraded(): Error {
  return new EngineError(500, 'the engine did not open a stream');
}

/** A name as one part of a path, which cannot lead to another. */
function segment(name: string): string {
  return encodeURIComponent(name).replace(/^\.+$/, (dots) => '%2E'.repeat(dots.length));
}

function written(query: Query = {}): string {
  const pairs = Object.entries(query)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => [name, typeof value === 'object' ? JSON.stringify(value) : String(value)]);
  return pairs.length === 0 ? '' : `?${new URLSearchParams(pairs as [string, string][])}`;
}
