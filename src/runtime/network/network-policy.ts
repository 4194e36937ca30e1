/** Decides whether a cell may reach a host, and which of its addresses. Empty rules allow nothing. */
import { networkInterfaces } from 'node:os';
import {
  type AddressKind,
  type IpAddress,
  type IpRange,
  kindOf,
  parseAddress,
  unwrapAddress,
} from '../../protocol/network/address.js';
import { formatHost, type Host, parseWrittenHost } from '../../protocol/network/host.js';
import {
  type HostRule,
  matchesHost,
  matchesPort,
  parseRule,
  portsOf,
} from '../../protocol/network/host-rule.js';
import { type FullNetworkRules, readPlace } from '../../protocol/network/network-schema.js';
import { RequestPolicy } from './opened/request-policy.js';
import type { Addressee } from './telling.js';

export interface Verdict {
  readonly allowed: boolean;
  /** The rule that decided; undefined when none is on this host. */
  readonly rule?: string | undefined;
  readonly reason?: string | undefined;
  /** No rule covers this host, so a person can decide. */
  readonly askable?: boolean | undefined;
}

/** Where the owner said that a name leads to. */
export interface FixedPlace {
  readonly address: string;
  readonly port: number | undefined;
}

/** No question is asked about it either. */
const beyond: Verdict = { allowed: false, reason: 'it is beyond what the rules in `within` allow' };

/** The ports of a rule that names none. */
const usualPorts = [80, 443] as const;

export class NetworkPolicy {
  readonly rules: FullNetworkRules;
  /** What hosts take, of which more is said than that they may be reached. */
  readonly requests: RequestPolicy;
  readonly #allow: readonly HostRule[];
  readonly #deny: readonly HostRule[];
  readonly #within: readonly HostRule[] | undefined;
  readonly #hosts: ReadonlyMap<string, FixedPlace>;

  constructor(rules: FullNetworkRules) {
    this.rules = rules;
    this.requests = new RequestPolicy(rules.requests);
    this.#allow = [...rules.allow, ...rules.requests.map(({ host }) => host)].map(parseRule);
    this.#deny = rules.deny.map(parseRule);
    this.#within = rules.within?.map(parseRule);
    this.#hosts = new Map(
      Object.entries(rules.hosts).flatMap(([name, text]) => {
        const host = parseWrittenHost(name);
        const place = readPlace(text);
        return host === undefined || place === undefined ? [] : [[formatHost(host), place]];
      }),
    );
  }

  /** Every port on which the rules may allow a connection, and those on which we can explain a refusal. */
  get ports(): number[] | 'all' {
    const named = this.#allow.map(portsOf);
    if (named.includes('all')) return 'all';
    return [...new Set([...usualPorts, ...(named as number[][]).flat()])];
  }

  decide(host: Host, port: number): Verdict {
    const denied = this.#denied(host, port);
    if (denied !== undefined) return { allowed: false, rule: denied.text, reason: 'a rule denies it' };
    if (!this.#isWithin(host, port)) return beyond;
    const onHost = this.#allow.filter((rule) => matchesHost(rule, host));
    const onPort = onHost.filter((rule) => matchesPort(rule, port, usualPorts));
    if ('address' in host) return this.#ofAddress(host.address, onPort);
    const [allowed] = onPort;
    if (allowed !== undefined) return { allowed: true, rule: allowed.text };
    const reason = onHost.length > 0 ? 'no rule allows this port' : 'no rule allows this host';
    return { allowed: false, reason, askable: this.rules.ask };
  }

  /** True when the rules allow some port of the host, so that the cell may look up its name. */
  mayResolve(name: string): boolean {
    const host = { name };
    if (this.#deny.some((rule) => rule.ports === undefined && matchesHost(rule, host))) return false;
    const isWithin = this.#within?.some((rule) => matchesHost(rule, host)) ?? true;
    return isWithin && this.#allow.some((rule) => matchesHost(rule, host));
  }

  fixedPlace(name: string): FixedPlace | undefined {
    return this.#hosts.get(name);
  }

  /**
   * Judges an address that an allowed name leads to. The name's DNS server chooses it, so an address that is not
   * public needs its own rule.
   */
  decideAddress(address: IpAddress, port: number): Verdict {
    const denied = this.deniedAddress(address, port);
    if (denied !== undefined) return denied;
    const host = { address: unwrapAddress(address) };
    if (!isOwn(host.address) && kindOf(host.address) === 'public') return { allowed: true };
    if (!this.#isWithin(host, port)) return beyond;
    return this.#ofAddress(
      host.address,
      this.#allow.filter((rule) => matchesHost(rule, host) && matchesPort(rule, port, usualPorts)),
    );
  }

  /** The verdict of a rule that denies an address. */
  deniedAddress(address: IpAddress, port: number): Verdict | undefined {
    const host = { address: unwrapAddress(address) };
    const denied = this.#denied(host, port);
    return denied && { allowed: false, rule: denied.text, reason: 'a rule denies its address' };
  }

  /** Why a name must not lead to where `hosts` says. That says more than a rule on the name, but not more than others. */
  refusedPlace(address: IpAddress, port: number): Verdict | undefined {
    const isWithin = this.#isWithin({ address: unwrapAddress(address) }, port);
    return this.deniedAddress(address, port) ?? (isWithin ? undefined : beyond);
  }

  /**
   * True when a rule denies whom a program speaks to, or says which requests it takes. Such a rule holds at an address
   * that is allowed, too. What cannot be read may be for any host.
   */
  judges(addressee: Addressee, port: number): boolean {
    if (addressee === 'nobody') return false;
    if (addressee === 'unread')
      return this.rules.requests.length > 0 || this.#deny.some(({ labels }) => labels !== undefined);
    return this.requests.isOn(addressee, port) || this.#denied(addressee, port) !== undefined;
  }

  #isWithin(host: Host, port: number): boolean {
    if (this.#within === undefined) return true;
    const on = this.#within.filter((rule) => matchesHost(rule, host) && matchesPort(rule, port, usualPorts));
    return 'address' in host ? this.#ofAddress(host.address, on).allowed : on.length > 0;
  }

  #denied(host: Host, port: number): HostRule | undefined {
    return this.#deny.find((rule) => matchesHost(rule, host) && matchesPort(rule, port));
  }

  /**
   * `rules`: those that are on the address. An address that is not public needs one on addresses of its kind, and one of
   * this machine one that names it: behind it are servers that were meant for nobody else.
   */
  #ofAddress(address: IpAddress, rules: readonly HostRule[]): Verdict {
    const kind = kindOf(address);
    const own = isOwn(address);
    if (kind === 'metadata') return { allowed: false, reason: 'metadata services are never reached' };
    const isNamed = own && kind !== 'loopback';
    const allowed = rules.find(({ range }) => {
      if (range === undefined) return false;
      return isNamed ? range.prefix === range.bits : kind === 'public' || isOn(range, kind);
    });
    if (allowed !== undefined) return { allowed: true, rule: allowed.text };
    if (kind === 'public' && !own) return { allowed: false, reason: 'no rule allows this address' };
    const what = isNamed ? 'an address of this machine' : words[kind];
    return { allowed: false, reason: `it is ${what}, which needs a rule of its own` };
  }
}

/** A range such as 0.0.0.0/0 says nothing about the private addresses in it. */
function isOn(range: IpRange, kind: AddressKind): boolean {
  return range.prefix >= 7 && kindOf(range) === kind;
}

const words: Readonly<Record<AddressKind, string>> = {
  public: 'a public address',
  private: 'an address of a private network',
  loopback: "this machine's loopback",
  'link-local': 'a link-local address',
  metadata: 'a metadata service',
  reserved: 'a reserved address',
};

const rereadMs = 2000;
let own: { readonly until: number; readonly addresses: ReadonlySet<string> } | undefined;

/** Whether it belongs to an interface of this machine; some of these addresses are public. */
function isOwn(address: IpAddress): boolean {
  const now = performance.now();
  if (own === undefined || own.until < now) {
    const all = Object.values(networkInterfaces()).flatMap((entries) => entries ?? []);
    const addresses = all.map((entry) => parseAddress(entry.address.replace(/%.*$/, '')));
    own = { until: now + rereadMs, addresses: new Set(addresses.map((entry) => keyOf(entry))) };
  }
  return own.addresses.has(keyOf(address));
}

function keyOf(address: IpAddress | undefined): string {
  if (address === undefined) return '';
  const { bits, value } = unwrapAddress(address);
  return `${bits}/${value}`;
}
