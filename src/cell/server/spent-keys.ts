/**
 * Remembers keys by a hash of eight bytes, because the promise that none of them runs again must hold for far more
 * keys than the results that we can keep. There are two tables: when the younger is full, drop the older one.
 */
import { hash as digest } from 'node:crypto';

/** At least this many of the youngest keys; the two tables then take 16 MiB. */
const rememberedKeys = 500_000;

const firstSlots = 1024;

export class SpentKeys {
  readonly #limit: number;
  #younger = new HashTable();
  #older = new HashTable();

  constructor(limit = rememberedKeys) {
    this.#limit = limit;
  }

  has(key: string): boolean {
    const hash = hashOf(key);
    return this.#younger.has(hash) || this.#older.has(hash);
  }

  add(key: string): void {
    if (this.#younger.size >= this.#limit) {
      this.#older = this.#younger;
      this.#younger = new HashTable();
    }
    this.#younger.add(hashOf(key));
  }
}

/** Open addressing in one array, at most half full; an empty slot is 0. */
class HashTable {
  #slots = new BigUint64Array(firstSlots);
  #size = 0;

  get size(): number {
    return this.#size;
  }

  has(hash: bigint): boolean {
    return this.#slots[this.#slotOf(hash)] === hash;
  }

  add(hash: bigint): void {
    if (this.#size * 2 >= this.#slots.length) this.#grow();
    const slot = this.#slotOf(hash);
    if (this.#slots[slot] === hash) return;
    this.#slots[slot] = hash;
    this.#size++;
  }

  /** The slot of the hash, or the free one for it. */
  #slotOf(hash: bigint): number {
    const mask = this.#slots.length - 1;
    let slot = Number(BigInt.asUintN(32, hash)) & mask;
    while (this.#slots[slot] !== 0n && this.#slots[slot] !== hash) slot = (slot + 1) & mask;
    return slot;
  }

  #grow(): void {
    const before = this.#slots;
    this.#slots = new BigUint64Array(before.length * 2);
    for (const hash of before) if (hash !== 0n) this.#slots[this.#slotOf(hash)] = hash;
  }
}

function hashOf(key: string): bigint {
  return digest('sha256', key, 'buffer').readBigUInt64LE() || 1n;
}
