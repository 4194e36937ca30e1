/**
 * Finds the addresses of an allowed host and connects to one of them: the address that we judged, never a second
 * answer.
 */
import { connect, type Socket } from 'node:net';
import { formatAddress, parseAddress } from '../../protocol/network/address.js';
import type { Host } from '../../protocol/network/host.js';
import { withLargeReads } from './large-reads.js';
import type { Lookups } from './lookups.js';
import type { NetworkPolicy } from './network-policy.js';
import { Refusal, Unreachable } from './refusal.js';

interface Place {
  readonly address: string;
  readonly port: number;
}

const connectMs = 10_000;

/** Throws a `Refusal` where the rules forbid every address, and `Unreachable` where none answers. */
export async function dial(
  policy: NetworkPolicy,
  lookups: Lookups,
  host: Host,
  port: number,
): Promise<Socket> {
  const places = await placesOf(policy, lookups, host, port);
  let failure: Error | undefined;
  for (const place of places) {
    try {
      return await connectTo(place);
    } catch (error) {
      failure = error as Error;
    }
  }
  throw new Unreachable(host, port, failure?.message ?? 'it has no address');
}

/** False when the name does not exist. Fails when the resolver cannot tell. */
export async function exists(policy: NetworkPolicy, lookups: Lookups, name: string): Promise<boolean> {
  if (policy.fixedPlace(name) !== undefined) return true;
  return (await lookups.find(name)).length > 0;
}

async function placesOf(policy: NetworkPolicy, lookups: Lookups, host: Host, port: number): Promise<Place[]> {
  if ('address' in host) return [{ address: formatAddress(host.address), port }];
  const fixed = policy.fixedPlace(host.name);
  // An address that the owner fixed is a rule of its own; only what cannot be taken back overrides it.
  if (fixed !== undefined) {
    const place = { address: fixed.address, port: fixed.port ?? port };
    const address = parseAddress(place.address);
    const denied = address && policy.refusedPlace(address, place.port);
    if (denied !== undefined) throw new Refusal(host, port, denied);
    return [place];
  }
  const addresses = await lookups.find(host.name).catch((error: Error) => {
    throw new Unreachable(host, port, error.message);
  });
  if (addresses.length === 0) throw new Unreachable(host, port, 'there is no such name');
  const judged = addresses.map((address) => ({ address, ...policy.decideAddress(address, port) }));
  const allowed = judged.filter((entry) => entry.allowed);
  const [refused] = judged;
  if (allowed.length === 0) throw new Refusal(host, port, { ...refused, allowed: false });
  return allowed.map(({ address }) => ({ address: formatAddress(address), port }));
}

/** True when the rules allow the address that was dialled for a name. */
export function mayStay(policy: NetworkPolicy, name: string, port: number, upstream: Socket): boolean {
  const dialled = parseAddress(upstream.remoteAddress ?? '');
  if (dialled === undefined) return true;
  if (policy.fixedPlace(name) !== undefined)
    return policy.refusedPlace(dialled, upstream.remotePort ?? port) === undefined;
  return policy.decideAddress(dialled, port).allowed;
}

function connectTo({ address, port }: Place): Promise<Socket> {
  return new Promise((fulfil, reject) => {
    const options = { host: address, port, allowHalfOpen: true, noDelay: true, keepAlive: true };
    const socket = withLargeReads((onread) => connect({ ...options, onread }));
    const timer = setTimeout(() => fail(new Error(`nothing answered in ${connectMs / 1000} s`)), connectMs);
    const fail = (error: Error) => {
      clearTimeout(timer);
      socket.destroy();
      reject(error);
    };
    socket.once('error', fail);
    socket.once('connect', () => {
      clearTimeout(timer);
      socket.off('error', fail);
      // The user of the socket sees its end.
      socket.on('error', () => {});
      fulfil(socket);
    });
  });
}
