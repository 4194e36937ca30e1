/** The connection to a Docker Engine, and the meaning of its refusals. */
import { homedir } from 'node:os';
import { join } from 'node:path';
import { readTrusted, UntrustedPathError } from '../../base/trusted-path.js';
import { WorkcellError } from '../../protocol/index.js';
import { DockerClient, type EngineAddress } from './docker-client.js';

export interface Engine {
  /** As DOCKER_HOST has it. */
  readonly host: string;
  readonly docker: DockerClient;
  /** For requests that wait for what may never happen: they do not keep this process alive. */
  readonly waiter: DockerClient;
}

const defaultHost = 'unix:///var/run/docker.sock';

const engines = new Map<string, Promise<Engine>>();

export function openEngine(given?: string): Promise<Engine> {
  const host = given ?? (process.env.DOCKER_HOST || defaultHost);
  let engine = engines.get(host);
  if (engine === undefined) {
    engine = open(host);
    engines.set(host, engine);
    // Whoever mends the address or its files need not start anew.
    engine.catch(() => engines.delete(host));
  }
  return engine;
}

async function open(host: string): Promise<Engine> {
  const address = readAddress(host);
  return { host, docker: new DockerClient(address), waiter: new DockerClient(address, { idle: true }) };
}

function readAddress(host: string): EngineAddress {
  const [, socketPath] = /^unix:\/\/(\/.+)$/.exec(host) ?? [];
  if (socketPath !== undefined) return { socketPath };
  const url = URL.canParse(host) ? new URL(host) : undefined;
  if (url === undefined || !['tcp:', 'http:', 'https:'].includes(url.protocol)) {
    throw new WorkcellError(
      'invalid-config',
      `"${host}" is not the address of a Docker Engine. Give one such as ${defaultHost} or tcp://127.0.0.1:2375.`,
      { details: { engine: host } },
    );
  }
  const isSecure = url.protocol === 'https:' || Boolean(process.env.DOCKER_TLS_VERIFY);
  const port = Number(url.port || (isSecure ? 2376 : 2375));
  return { host: url.hostname, port, ...(isSecure && { tls: readCertificates() }) };
}

/** Where Docker's own client looks for them. Who can write them chooses whom we believe. */
function readCertificates(): { ca?: Buffer; cert?: Buffer; key?: Buffer } {
  const folder = process.env.DOCKER_CERT_PATH || join(homedir(), '.docker');
  const found = ['ca', 'cert', 'key'].map(
    (name) => [name, readIfThere(join(folder, `${name}.pem`))] as const,
  );
  return Object.fromEntries(found.filter(([, content]) => content !== undefined));
}

function readIfThere(path: string): Buffer | undefined {
  try {
    return Buffer.from(readTrusted(path).text);
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw new WorkcellError(
      cause instanceof UntrustedPathError ? 'config-untrusted' : 'invalid-config',
      `The connection to the Docker Engine wants ${path}, which cannot be read: ${(cause as Error).message}.`,
      { details: { file: path }, cause },
    );
  }
}

interface EngineRefusal {
  /** HTTP status of the engine's answer. */
  readonly status: number | undefined;
  /** Code of a connection that failed. */
  readonly code: string | undefined;
  readonly reason: string;
}

/** The reason of a failure, from the engine or from the connection to it. */
export function refusalOf(error: unknown): EngineRefusal {
  const { statusCode, code, message } = error as { statusCode?: number; code?: string; message?: string };
  return { status: statusCode, code, reason: (message ?? String(error)).trim() };
}

export function isGone(error: unknown): boolean {
  return refusalOf(error).status === 404;
}

/** Settles when the engine answers; rejects with advice when it does not. */
export async function reachEngine(engine: Engine): Promise<void> {
  try {
    await engine.docker.ping();
  } catch (error) {
    throw engineTrouble(engine, error) ?? error;
  }
}

/** The error for a call that failed on the way to the engine; undefined when the engine itself refused. */
export function engineTrouble({ host }: Engine, error: unknown): WorkcellError | undefined {
  const { status, code, reason } = refusalOf(error);
  if (status !== undefined) return undefined;
  const details = { engine: host, reason: code ?? reason };
  if (code === 'EACCES' || code === 'EPERM') {
    return new WorkcellError(
      'permission-denied',
      `This user may not use the Docker Engine at ${host}. Add the user to the group that owns the socket (usually "docker": sudo usermod -aG docker $USER, then log in again), or use rootless Docker.`,
      { details, cause: error },
    );
  }
  const missing = code === 'ENOENT' || code === 'ECONNREFUSED' || code === 'ENOTFOUND';
  return new WorkcellError(
    'backend-unavailable',
    missing
      ? `No Docker Engine answers at ${host}. Install and start one (Debian, Ubuntu: sudo apt-get install docker.io), or set DOCKER_HOST.`
      : `The Docker Engine at ${host} does not answer: ${reason}.`,
    { details, cause: error },
  );
}
