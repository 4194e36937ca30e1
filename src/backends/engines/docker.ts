/** The way to a Docker Engine, and what its refusals mean. */
import { Agent } from 'node:http';
import type { Duplex } from 'node:stream';
import type Docker from 'dockerode';
import { WorkcellError } from '../../protocol/index.js';

export interface Engine {
  /** As DOCKER_HOST has it. */
  readonly host: string;
  readonly docker: Docker;
  /** For requests that wait for what may never happen: they do not keep this process from ending. */
  readonly waiter: Docker;
}

const defaultHost = 'unix:///var/run/docker.sock';

const engines = new Map<string, Promise<Engine>>();

export function openEngine(given?: string): Promise<Engine> {
  const host = given ?? (process.env.DOCKER_HOST || defaultHost);
  let engine = engines.get(host);
  if (engine === undefined) {
    engine = open(host);
    engines.set(host, engine);
  }
  return engine;
}

async function open(host: string): Promise<Engine> {
  const { default: Client } = await import('dockerode');
  const connect = (options: Docker.DockerOptions): Engine => ({
    host,
    docker: new Client(options),
    waiter: new Client({ ...options, ...{ agent: new IdleAgent() } }),
  });
  const [, socketPath] = /^unix:\/\/(\/.+)$/.exec(host) ?? [];
  if (socketPath !== undefined) return connect({ socketPath });
  const url = URL.canParse(host) ? new URL(host) : undefined;
  if (url === undefined || !['tcp:', 'http:', 'https:'].includes(url.protocol)) {
    throw new WorkcellError(
      'invalid-config',
      `"${host}" is not the address of a Docker Engine. Give one such as ${defaultHost} or tcp://127.0.0.1:2375.`,
      { details: { engine: host } },
    );
  }
  const protocol = url.protocol === 'https:' || process.env.DOCKER_TLS_VERIFY ? 'https' : 'http';
  return connect({ protocol, host: url.hostname, port: Number(url.port || 2375) });
}

/** Its connections do not keep this process from ending. */
class IdleAgent extends Agent {
  override createConnection(...parts: Parameters<Agent['createConnection']>): Duplex | null | undefined {
    const socket = super.createConnection(...parts);
    (socket as { unref?: () => void } | undefined)?.unref?.();
    return socket;
  }
}

interface EngineRefusal {
  /** HTTP status of the engine's answer. */
  readonly status: number | undefined;
  /** Code of a connection that failed. */
  readonly code: string | undefined;
  readonly reason: string;
}

/** What went wrong, as the engine says it or the way to it. */
export function refusalOf(error: unknown): EngineRefusal {
  const { statusCode, code, json, message } = error as {
    statusCode?: number;
    code?: string;
    json?: { message?: string };
    message?: string;
  };
  const reason = (json?.message ?? message ?? String(error)).replace(/^\(HTTP code \d+\) [a-z -]+ - /, '');
  return { status: statusCode, code, reason: reason.trim() };
}

export function isGone(error: unknown): boolean {
  return refusalOf(error).status === 404;
}

/** Settles when the engine answers; rejects with what to do when it does not. */
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
