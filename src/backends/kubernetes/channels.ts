/** Streams of a pod through the API server: messages of a WebSocket whose first byte is the channel. */
import { Duplex } from 'node:stream';
import type { WebSocket } from 'ws';
import type { ClusterClient } from './cluster-client.js';
import { podPath } from './objects.js';

/** When a ping gets no answer for this long, the other side has gone. */
const pingMs = 20_000;

const stdin = 0;
const stdout = 1;
const stderr = 2;

export interface Attached {
  /** Writes to standard input. */
  write(text: string): void;
  /** Settles when the stream has ended. */
  readonly closed: Promise<void>;
  close(): void;
}

/** The standard streams of a container. `deliver` gets text in pieces. */
export async function attachToContainer(
  client: ClusterClient,
  pod: { readonly namespace: string; readonly name: string; readonly container: string },
  deliver: { out(text: string): void; log(text: string): void },
): Promise<Attached> {
  const query = new URLSearchParams({
    container: pod.container,
    stdin: 'true',
    stdout: 'true',
    stderr: 'true',
  });
  const path = `${podPath(pod.namespace, pod.name)}/attach`;
  const socket = await client.connect(path, ['v5.channel.k8s.io', 'v4.channel.k8s.io'], query);
  const decoders = { [stdout]: new TextDecoder(), [stderr]: new TextDecoder() };
  socket.on('message', (data: Buffer) => {
    const [channel] = data;
    const rest = data.subarray(1);
    if (channel === stdout) deliver.out(decoders[stdout].decode(rest, { stream: true }));
    if (channel === stderr) deliver.log(decoders[stderr].decode(rest, { stream: true }));
  });
  socket.resume();
  return {
    write: (text) => socket.send(Buffer.concat([Buffer.of(stdin), Buffer.from(text)])),
    closed: new Promise((resolve) => socket.once('close', () => resolve())),
    close: () => socket.terminate(),
  };
}

/** One connection to a port of a pod. Each side waits for the other when that is slow. */
export async function forwardPort(
  client: ClusterClient,
  { namespace, name }: { readonly namespace: string; readonly name: string },
  port: number,
): Promise<Duplex> {
  const query = new URLSearchParams({ ports: String(port) });
  const path = `${podPath(namespace, name)}/portforward`;
  return new ForwardedPort(await client.connect(path, ['v4.channel.k8s.io'], query));
}

const dataChannel = 0;
const errorChannel = 1;

class ForwardedPort extends Duplex {
  readonly #socket: WebSocket;
  readonly #pinging: NodeJS.Timeout;
  /** The first message of each channel repeats the number of the port. */
  readonly #begun = new Set<number>();
  #answered = true;

  constructor(socket: WebSocket) {
    super({ allowHalfOpen: false });
    this.#socket = socket;
    this.#pinging = setInterval(() => this.#ping(), pingMs).unref();
    socket.on('message', (data: Buffer) => this.#receive(data));
    socket.on('pong', () => {
      this.#answered = true;
    });
    socket.on('error', (error) => this.destroy(error));
    socket.once('close', () => {
      clearInterval(this.#pinging);
      this.destroy();
    });
  }

  override _read(): void {
    this.#socket.resume();
  }

  override _write(chunk: Buffer, _encoding: string, done: (error?: Error | null) => void): void {
    this.#socket.send(Buffer.concat([Buffer.of(dataChannel), chunk]), done);
  }

  override _writev(chunks: { chunk: Buffer }[], done: (error?: Error | null) => void): void {
    const all = [Buffer.of(dataChannel), ...chunks.map(({ chunk }) => chunk)];
    this.#socket.send(Buffer.concat(all), done);
  }

  override _final(done: () => void): void {
    this.#socket.close();
    done();
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    clearInterval(this.#pinging);
    this.#socket.terminate();
    done(error);
  }

  #receive(data: Buffer): void {
    this.#answered = true;
    const channel = data[0] ?? errorChannel;
    const isFirst = !this.#begun.has(channel);
    this.#begun.add(channel);
    const content = data.subarray(isFirst ? 3 : 1);
    if (content.length === 0) return;
    if (channel === errorChannel) {
      const reason = content.toString('utf8').slice(0, 500);
      this.destroy(Object.assign(new Error(reason), { code: 'ECONNREFUSED' }));
    } else if (!this.push(content)) this.#socket.pause();
  }

  #ping(): void {
    // While we hold it back, its answer waits behind data.
    if (this.#socket.isPaused) return;
    if (!this.#answered) {
      this.destroy(Object.assign(new Error('the cluster does not answer'), { code: 'ETIMEDOUT' }));
      return;
    }
    this.#answered = false;
    this.#socket.ping();
  }
}
