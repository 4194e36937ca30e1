/** Cells of a service, as the remote-runtime API describes them. */
import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import type { PreviewLinks } from '../../service/previews/preview-links.js';
import type { ServiceCells } from '../../service/service-cells.js';
import { checkRole, type ServiceKeys } from '../../service/service-keys.js';
import type { CellRecord, KeyRecord } from '../../service/service-store.js';

export const sessionLabel = 'openhands/session';
const serverLabel = 'openhands/server';

/** Which OpenHands server a client expects, by the command that it wants to run. */
export function serverOf(command: string): Record<string, string> {
  return { [serverLabel]: command.includes('agent-server') ? 'v1' : 'v0' };
}

export function isV1({ labels }: CellRecord): boolean {
  return labels[serverLabel] === 'v1';
}

/** One cell for each session; ids of sessions may contain characters that names of cells may not. */
export function nameOf(session: string): string {
  return `openhands-${createHash('sha256').update(session).digest('hex').slice(0, 30)}`;
}

/** The ports that these clients tell agents to use, and how long a link to one holds. */
const workPorts = [12_000, 12_001];
const workHostsMs = 86_400_000;

interface Parts {
  readonly cells: ServiceCells;
  readonly keys: ServiceKeys;
  readonly secret: string;
  readonly url: string | undefined;
  readonly previews?: PreviewLinks | undefined;
}

export class Runtimes {
  readonly #parts: Parts;
  readonly #path: string;

  constructor(parts: Parts, path: string) {
    this.#parts = parts;
    this.#path = path;
  }

  /** The cells that a key may use. */
  all(asker: KeyRecord): CellRecord[] {
    checkRole(asker, 'user', 'list runtimes');
    return this.#parts.cells.list(asker.tenant).filter(({ labels }) => Object.hasOwn(labels, sessionLabel));
  }

  shown(request: FastifyRequest, asker: KeyRecord, record: CellRecord): Record<string, unknown> {
    const { id, labels, state } = record;
    return {
      runtime_id: id,
      session_id: labels[sessionLabel] ?? null,
      url: `${this.#parts.url ?? `http://${request.headers.host}`}${this.#path}/runtimes/${id}`,
      session_api_key: this.#sessionKey(id, asker.id),
      work_hosts: this.#workHosts(asker, id),
      restart_count: 0,
      restart_reasons: [],
      ...statuses[state],
    };
  }

  /** Where browsers reach what agents serve, on a service with previews. */
  #workHosts(asker: KeyRecord, cell: string): Record<string, number> {
    const { previews } = this.#parts;
    if (previews === undefined) return {};
    return Object.fromEntries(
      workPorts.map((port) => [previews.create(asker, { cell, port, ttlMs: workHostsMs }).url, port]),
    );
  }

  /** The key of the service that a session key came from; undefined unless it is for this runtime, and that key holds. */
  keyBehind(id: string, given: unknown): KeyRecord | undefined {
    const [key] = /^[0-9a-z]{1,64}(?=-)/.exec(typeof given === 'string' ? given : '') ?? [];
    const right = key === undefined ? undefined : this.#sessionKey(id, key);
    if (key === undefined || right === undefined) return undefined;
    const [one, other] = [given as string, right].map((text) => createHash('sha256').update(text).digest());
    if (one === undefined || other === undefined || !timingSafeEqual(one, other)) return undefined;
    return this.#parts.keys.find(key);
  }

  /**
   * For the holder of a key, and worth as much as that: undefined when the key was removed or has expired. The same at every
   * call, because clients read it before they resume a runtime, and not again.
   */
  #sessionKey(id: string, key: string): string | undefined {
    const proof = this.#parts.keys.proofOf(key);
    if (proof === undefined) return undefined;
    const said = `openhands session ${id} ${key} ${proof}`;
    return `${key}-${createHmac('sha256', this.#parts.secret).update(said).digest('hex')}`;
  }
}

const statuses: Record<CellRecord['state'], { status: string; pod_status: string }> = {
  starting: { status: 'starting', pod_status: 'pending' },
  running: { status: 'running', pod_status: 'ready' },
  paused: { status: 'paused', pod_status: 'not found' },
  lost: { status: 'error', pod_status: 'failed' },
};
