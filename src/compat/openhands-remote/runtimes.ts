/** Cells of a service, as the remote-runtime API describes them. */
import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import type { PreviewLinks } from '../../service/previews/preview-links.js';
import type { ServiceCells } from '../../service/service-cells.js';
import { checkRole } from '../../service/service-keys.js';
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
      session_api_key: this.#keyOf(id),
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

  /** Whether a request brings the key of this runtime. */
  mayUse(id: string, key: unknown): boolean {
    if (typeof key !== 'string') return false;
    const [given, right] = [key, this.#keyOf(id)].map((text) => createHash('sha256').update(text).digest());
    return given !== undefined && right !== undefined && timingSafeEqual(given, right);
  }

  /** The same at every call, because clients read it before they resume a runtime, and not again. */
  #keyOf(id: string): string {
    return createHmac('sha256', this.#parts.secret).update(`openhands session ${id}`).digest('hex');
  }
}

const statuses: Record<CellRecord['state'], { status: string; pod_status: string }> = {
  starting: { status: 'starting', pod_status: 'pending' },
  running: { status: 'running', pod_status: 'ready' },
  paused: { status: 'paused', pod_status: 'not found' },
  lost: { status: 'error', pod_status: 'failed' },
};
