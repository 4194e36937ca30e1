/**
 * Addresses that stand for names inside one cell. So we know the name behind a connection whatever the protocol,
 * addresses of the outside are useless in the cell, and we can answer a name query without asking anybody.
 */
import {
  formatAddress,
  type IpRange,
  inRange,
  ipv4,
  parseAddress,
  parseRange,
} from '../../protocol/network/address.js';

const range = parseRange('198.18.0.0/15') as IpRange;
const first = range.value + 256n;
const count = 2n ** 17n - 512n;

/** A cell can ask for names without end. Forget the least recently used one; its address then leads nowhere. */
const mostNames = 4096;

export class CellNames {
  readonly #addresses = new Map<string, string>();
  readonly #names = new Map<string, string>();
  #next = 0n;

  addressOf(name: string): string {
    const known = this.#addresses.get(name);
    const address = known ?? formatAddress({ bits: 32, value: first + (this.#next++ % count) });
    this.#forget(name);
    this.#addresses.set(name, address);
    this.#names.set(address, name);
    if (this.#addresses.size > mostNames) this.#forget(this.#addresses.keys().next().value ?? '');
    return address;
  }

  /** The name behind an address; null for one of the range that stands for none; undefined for any other. */
  nameOf(address: string): string | null | undefined {
    const name = this.#names.get(address);
    if (name !== undefined) return name;
    return inRange(range, parseAddress(address) ?? ipv4([0, 0, 0, 0])) ? null : undefined;
  }

  #forget(name: string): void {
    const address = this.#addresses.get(name);
    if (address !== undefined) this.#names.delete(address);
    this.#addresses.delete(name);
  }
}
