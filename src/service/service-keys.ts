/** Keys: shown once, kept as hashes, and never worth more than the key that made them. */
import { createHash, randomBytes } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { z } from 'zod';
import { socketKey } from '../base/http/access.js';
import { WorkcellError } from '../protocol/index.js';
import {
  type KeyPage,
  type KeyRole,
  keyRoles,
  type listKeysQuery,
  type NewKey,
  type ServiceKey,
} from '../protocol/service-wire.js';
import type { KeyRecord, ServiceStore } from './service-store.js';

/** The request for a new key. */
interface Asked {
  readonly tenant?: string | undefined;
  readonly role: Exclude<KeyRole, 'operator'>;
  readonly cell?: string | undefined;
  readonly expiresAt?: string | undefined;
  readonly note?: string | undefined;
}

/** The operator's key is another one after each start, or from a file. */
const operatorId = 'operator';

/** An admin still sees which key has expired, and a clock that jumps removes none. */
const expiredKeptMs = 86_400_000;

/** The longest time of a timer; it cuts off a request that lasts longer, which can come again. */
const longestTimer = 2 ** 31 - 1;

export class ServiceKeys {
  readonly #store: ServiceStore;
  readonly #byHash = new Map<string, KeyRecord>();
  readonly #hashes = new Map<string, string>();
  /** Requests under way, by the id of their key. */
  readonly #open = new Map<string, Set<() => void>>();

  readonly #mostPerTenant: number;

  /** `operator`: the operator's key; no store keeps it. */
  constructor(
    store: ServiceStore,
    operator: { readonly key: string; readonly tenant: string },
    mostPerTenant: number,
  ) {
    this.#store = store;
    this.#mostPerTenant = mostPerTenant;
    const { key, tenant } = operator;
    this.#add(hashOf(key), { id: operatorId, tenant, role: 'operator', createdAt: Date.now() });
  }

  /** Reads what the process before left. */
  async load(): Promise<void> {
    for (const { hash, record } of await this.#store.keys()) this.#add(hash, record);
    await this.#forgetExpired();
  }

  /** Whose request it is. */
  authenticate(headers: IncomingHttpHeaders): KeyRecord {
    const [, bearer] = /^bearer +(\S+)$/i.exec(headers.authorization ?? '') ?? [];
    const given = bearer ?? headers['x-api-key'] ?? socketKey(headers);
    const record = typeof given === 'string' ? this.#byHash.get(hashOf(given)) : undefined;
    if (record !== undefined && !isOver(record)) return record;
    throw new WorkcellError(
      'unauthorized',
      'The request carries no valid key. Send the header "Authorization: Bearer <key>".',
    );
  }

  /** `idOf`: returns the id of a tenant's cell, so that the key does not fit a later cell of the same name. */
  async create(
    maker: KeyRecord,
    asked: Asked,
    idOf: (tenant: string, cell: string) => string,
  ): Promise<NewKey> {
    const { tenant = maker.tenant, role, note } = asked;
    checkRole(maker, 'admin', 'make keys');
    if (tenant !== maker.tenant) checkRole(maker, 'operator', 'make keys of other tenants');
    const cell = asked.cell === undefined ? undefined : idOf(tenant, asked.cell);
    const expiresAt = asked.expiresAt === undefined ? undefined : Date.parse(asked.expiresAt);
    if (maker.expiresAt !== undefined && (expiresAt === undefined || expiresAt > maker.expiresAt))
      throw new WorkcellError(
        'denied',
        `A key cannot hold longer than the one that makes it: give expiresAt, at most ${iso(maker.expiresAt)}.`,
      );
    await this.#forgetExpired();
    this.#checkRoom(tenant);
    const id = randomBytes(8).toString('hex');
    const key = `wck_${randomBytes(24).toString('base64url')}`;
    const record: KeyRecord = { id, tenant, role, cell, createdAt: Date.now(), expiresAt, note };
    // It counts at once, and nobody has it before the store does.
    this.#add(hashOf(key), record);
    try {
      await this.#store.putKey(record, hashOf(key));
    } catch (error) {
      this.#drop(id, hashOf(key));
      throw error;
    }
    return { ...shownKey(record), key };
  }

  /** A page of those that this key may see, from one id to the next. */
  list(asker: KeyRecord, { limit, cursor = '' }: z.output<typeof listKeysQuery>): KeyPage {
    checkRole(asker, 'admin', 'list keys');
    const behind = this.#seenBy(asker)
      .map(([, record]) => record)
      .filter(({ id }) => id > cursor)
      .toSorted((left, right) => (left.id < right.id ? -1 : 1));
    const shown = behind.slice(0, limit);
    const last = behind.length > limit ? shown.at(-1) : undefined;
    return { keys: shown.map(shownKey), ...(last !== undefined && { next: last.id }) };
  }

  async remove(asker: KeyRecord, id: string): Promise<void> {
    checkRole(asker, 'admin', 'remove keys');
    const found = this.#seenBy(asker).find(([, record]) => record.id === id);
    if (found === undefined)
      throw new WorkcellError('not-found', `There is no key ${JSON.stringify(id)}.`, { details: { id } });
    await this.#forget(id, found[0]);
    for (const cut of this.#open.get(id) ?? []) cut();
  }

  /** Undefined once the key is removed or expired. */
  find(id: string): KeyRecord | undefined {
    const hash = this.#hashes.get(id);
    const record = hash === undefined ? undefined : this.#byHash.get(hash);
    return record === undefined || isOver(record) ? undefined : record;
  }

  /** What signatures of a key stand on: none but that very key has it. Undefined once the key is removed or expired. */
  proofOf(id: string): string | undefined {
    return this.find(id) === undefined ? undefined : this.#hashes.get(id);
  }

  /** Cuts a request off when its key is removed or expires. Returns the function that stops this. */
  track({ id, expiresAt }: Pick<KeyRecord, 'id' | 'expiresAt'>, cut: () => void): () => void {
    const open = this.#open.get(id) ?? new Set();
    this.#open.set(id, open.add(cut));
    const left = expiresAt === undefined ? undefined : Math.min(expiresAt - Date.now(), longestTimer);
    const timer = left === undefined ? undefined : setTimeout(cut, left);
    timer?.unref();
    return () => {
      clearTimeout(timer);
      open.delete(cut);
      if (open.size === 0 && this.#open.get(id) === open) this.#open.delete(id);
    };
  }

  #add(hash: string, record: KeyRecord): void {
    this.#byHash.set(hash, record);
    this.#hashes.set(record.id, hash);
  }

  async #forget(id: string, hash: string): Promise<void> {
    await this.#store.removeKey(id);
    this.#drop(id, hash);
  }

  #drop(id: string, hash: string): void {
    this.#byHash.delete(hash);
    this.#hashes.delete(id);
  }

  #checkRoom(tenant: string): void {
    let count = 0;
    for (const record of this.#byHash.values())
      if (record.tenant === tenant && record.id !== operatorId && !isOver(record)) count++;
    if (count < this.#mostPerTenant) return;
    throw new WorkcellError(
      'rate-limited',
      `The tenant has ${count} keys, and ${this.#mostPerTenant} is the most. Remove some first, or let keys expire.`,
      { details: { limit: this.#mostPerTenant, of: 'keys' } },
    );
  }

  /** Expired keys do not pile up: those that are made make room for themselves. */
  async #forgetExpired(): Promise<void> {
    const before = Date.now() - expiredKeptMs;
    for (const [hash, { id, expiresAt }] of this.#byHash)
      if (expiresAt !== undefined && expiresAt < before) await this.#forget(id, hash);
  }

  #seenBy({ role, tenant }: KeyRecord): [string, KeyRecord][] {
    return [...this.#byHash].filter(
      ([, record]) => record.id !== operatorId && (role === 'operator' || record.tenant === tenant),
    );
  }
}

/**
 * Throws unless a key may do this: `needed` is the least role. A key for one cell may read, and do the rest in that cell
 * alone: `inCell` is the one that this is about.
 */
export function checkRole({ role, cell }: KeyRecord, needed: KeyRole, what: string, inCell?: string): void {
  const may = keyRoles.indexOf(role) <= keyRoles.indexOf(needed);
  if (may && (cell === undefined || cell === inCell || needed === 'reader')) return;
  const reason = may ? 'it is for one cell' : `that needs the role ${needed}, and it has ${role}`;
  throw new WorkcellError('denied', `This key may not ${what}: ${reason}.`, { details: { needed, role } });
}

function isOver({ expiresAt }: KeyRecord): boolean {
  return expiresAt !== undefined && expiresAt <= Date.now();
}

function shownKey({ id, tenant, role, cell, createdAt, expiresAt, note }: KeyRecord): ServiceKey {
  return {
    id,
    tenant,
    role,
    createdAt: iso(createdAt),
    ...(cell !== undefined && { cell }),
    ...(expiresAt !== undefined && { expiresAt: iso(expiresAt) }),
    ...(note !== undefined && { note }),
  };
}

export function iso(at: number): string {
  return new Date(at).toISOString();
}

/** A key is random enough that its hash needs no salt, and looking it up tells nothing about others. */
function hashOf(key: string): string {
  return createHash('sha256').update(key).digest('hex');
}
