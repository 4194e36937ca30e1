/** Whom a connection of a cell is for, by the address that it was made to. */
import { parseAddress, unwrapAddress } from '../../protocol/network/address.js';
import { formatHost, type Host } from '../../protocol/network/host.js';
import type { NetworkEvent } from '../../protocol/network/network-schema.js';
import type { CellNames } from './cell-names.js';
import type { NetworkPolicy } from './network-policy.js';
import type { Addressee } from './telling.js';

/** The address that a program in the cell connected to. */
export interface Destination {
  readonly address: string;
  readonly port: number;
}

/** Whom a connection is for, as far as that is known, and how it came. */
export interface Wanted {
  readonly host: Host | undefined;
  readonly port: number;
  readonly via: NetworkEvent['via'];
  /** Whom the program speaks to there, where the host is an address. */
  readonly addressee?: Addressee;
  /** What was allowed for this one connection. */
  readonly granted: Set<string>;
}

/** Where programs of a cell find proxies, on its own loopback. */
const proxyPorts = { http: 3128, socks: 1080 } as const;

export function wantedBy({ address, port }: Destination, names: CellNames): Wanted {
  const granted = new Set<string>();
  const literal = parseAddress(address);
  if (literal === undefined) return { host: undefined, port, via: 'direct', granted };
  const plain = unwrapAddress(literal);
  const own = plain.bits === 32 ? plain.value >> 24n === 127n : plain.value === 1n;
  if (own && port === proxyPorts.http) return { host: undefined, port, via: 'http-proxy', granted };
  if (own && port === proxyPorts.socks) return { host: undefined, port, via: 'socks', granted };
  const name = names.nameOf(formatHost({ address: plain }));
  if (name === null) return { host: undefined, port, via: 'direct', granted };
  return { host: name === undefined ? { address: plain } : { name }, port, via: 'direct', granted };
}

/**
 * The same for a request on the connection. At an address that the rules allow it goes to the address, unless a rule is
 * on the name: only a name that we look up ourselves leads to the host that the rule means.
 */
export function wantedFor(
  wanted: Wanted,
  policy: NetworkPolicy,
  named: Host,
  port: number,
): Wanted & { readonly host: Host } {
  const { host } = wanted;
  const atAddress =
    host !== undefined &&
    'address' in host &&
    policy.decide(host, port).allowed &&
    !policy.judges(named, port);
  const addressee = 'name' in named ? named : 'nobody';
  return { ...wanted, host: atAddress ? host : named, port, addressee };
}
