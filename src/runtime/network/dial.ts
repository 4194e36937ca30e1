/** Finds the addresses of an allowed host and connects to one of them: the address that was judged, never a second answer. */
import { lookup } from 'node:dns/promises';
import { connect, type Socket } from 'node:net';
import { formatAddress, type IpAddress, parseAddress } from '../../protocol/network/address.js';
import type { Host } from '../../protocol/network/host.js';
import type { NetworkPolicy } from './network-policy.js';
import { Refusal, Unreachable } from './refusal.js';

interface Place {
  readonly address: string;
  readonly port: number;
}

const connectMs = 10_000;

/** Throws a `Refusal` where no address may be dialled, and `Unreachable` where none answers. */
export async function dial(policy: NetworkPolicy, host: Host, port: number): Promise<Socket> {
  const places = await placesOf(policy, host, port);
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

/** False when the name does not exist. Fails when nobody can tell. */
export async function exists(policy: NetworkPolicy, name: string): Promise<boolean> {
  if (policy.fixedPlace(name) !== undefined) return true;
  return (await resolve(name)).length > 0;
}

async function placesOf(policy: NetworkPolicy, host: Host, port: number): Promise<Place[]> {
  if ('address' in host) return [{ address: formatAddress(host.address), port }];
  const fixed = policy.fixedPlace(host.name);
  // What the owner wrote down is a rule of its own, which only a denial goes before.
  if (fixed !== undefined) {
    const place = { address: fixed.address, port: fixed.port ?? port };
    const address = parseAddress(place.address);
    const denied = address && policy.deniedAddress(address, place.port);
    if (denied !== undefined) throw new Refusal(host, port, denied);
    return [place];
  }
  const addresses = await resolve(host.name).catch((error: Error) => {
    throw new Unreachable(host, port, error.message);
  });
  if (addresses.length === 0) throw new Unreachable(host, port, 'there is no such name');
  const judged = addresses.map((address) => ({ address, ...policy.decideAddress(address, port) }));
  const allowed = judged.filter((entry) => entry.allowed);
  const [refused] = judged;
  if (allowed.length === 0) throw new Refusal(host, port, { ...refused, allowed: false });
  return allowed.map(({ address }) => ({ address: formatAddress(address), port }));
}

/** Programs ask for the same name many times in a row. */
const rememberedMs = 10_000;
const mostRemembered = 1000;
const remembered = new Map<string, { until: number; addresses: Promise<IpAddress[]> }>();

/** Lookups share the threads that also serve files. */
const atOnce = 2;
let running = 0;
const waiting: (() => void)[] = [];

function resolve(name: string): Promise<IpAddress[]> {
  const known = remembered.get(name);
  if (known !== undefined && known.until > performance.now()) return known.addresses;
  remembered.delete(name);
  const addresses = ask(name);
  remembered.set(name, { until: performance.now() + rememberedMs, addresses });
  if (remembered.size > mostRemembered) remembered.delete(remembered.keys().next().value ?? '');
  // A failure is not remembered: the next question may succeed.
  addresses.then(
    (found) => found.length === 0 && remembered.delete(name),
    () => remembered.delete(name),
  );
  return addresses;
}

async function ask(name: string): Promise<IpAddress[]> {
  if (running >= atOnce) await new Promise<void>((next) => waiting.push(next));
  else running++;
  try {
    const found = await lookup(name, { all: true });
    return found.map(({ address }) => parseAddress(address)).filter((address) => address !== undefined);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOTFOUND') return [];
    throw error;
  } finally {
    const next = waiting.shift();
    if (next === undefined) running--;
    else next();
  }
}

function connectTo({ address, port }: Place): Promise<Socket> {
  return new Promise((fulfil, reject) => {
    const socket = connect({ host: address, port, allowHalfOpen: true, noDelay: true, keepAlive: true });
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
      // Whoever uses it sees its end.
      socket.on('error', () => {});
      fulfil(socket);
    });
  });
}
