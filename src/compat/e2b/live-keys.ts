/** Keys by their ids, as long as they hold. */
import type { ServiceKeys } from '../../service/service-keys.js';
import type { KeyRecord } from '../../service/service-store.js';

/** Whom the service shows all its keys. It lasts as long as the service, and no store has it. */
const operator: KeyRecord = { id: 'operator', tenant: '', role: 'operator', createdAt: 0 };

/** How many ids to know by heart; a key that is gone never comes back. */
const mostKnown = 10_000;

export class LiveKeys {
  readonly #keys: ServiceKeys;
  readonly #known = new Map<string, KeyRecord | 'gone'>([[operator.id, operator]]);

  constructor(keys: ServiceKeys) {
    this.#keys = keys;
  }

  /** Undefined for a key that was removed or has expired. */
  find(id: string): KeyRecord | undefined {
    const known = this.#known.get(id) ?? this.#look(id);
    return known === 'gone' ? undefined : known;
  }

  #look(id: string): KeyRecord | 'gone' {
    for (const [other, state] of this.#known) {
      if (this.#known.size < mostKnown) break;
      if (state === 'gone') this.#known.delete(other);
    }
    const shown = this.#keys.list(operator).find((key) => key.id === id);
    const expiresAt = shown?.expiresAt === undefined ? undefined : Date.parse(shown.expiresAt);
    if (shown === undefined || (expiresAt !== undefined && expiresAt <= Date.now())) {
      this.#known.set(id, 'gone');
      return 'gone';
    }
    const { tenant, role, cell } = shown;
    const key: KeyRecord = { id, tenant, role, cell, createdAt: Date.parse(shown.createdAt), expiresAt };
    this.#known.set(id, key);
    this.#keys.track(key, () => this.#known.delete(id));
    return key;
  }
}
