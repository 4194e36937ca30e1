/**
 * Addresses that stand for names inside one cell. The name behind a connection is then known whatever the protocol, no
 * address of the outside is ever of use in the cell, and a name can be answered without asking anybody about it.
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

/** A cell can ask for names without end. The one that was used longest ago is forgotten, and its address leads nowhere. */
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
