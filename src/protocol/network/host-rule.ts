/** Rules on hosts and ports: `api.example.com`, `*.example.com:443`, `10.0.0.0/8:5432`. */
import { type IpRange, inRange, parseRange, unwrapAddress } from './address.js';
import { type Host, parseWrittenHost } from './host.js';

interface PortRange {
  readonly first: number;
  readonly last: number;
}

/** A rule, read. */
export interface HostRule {
  /** As its author wrote it. */
  readonly text: string;
  /** Label by label from the left; `**` stands for one or more. Undefined for a rule on addresses. */
  readonly labels?: readonly string[];
  readonly range?: IpRange;
  /** Undefined: those that the use of the rule has by default. */
  readonly ports?: readonly PortRange[];
}

/** More ports than these look like a scan, and each needs a listener in the cell; but `*` for all of them has one. */
const mostPorts = 128;
const everyPort: PortRange = { first: 1, last: 65_535 };

/** Reads a rule. Throws an error whose message names the problem. */
export function parseRule(text: string): HostRule {
  const { host, ports } = split(text);
  const range = parseRange(host.replace(/^\[([^\]]*)\](?=$|\/)/, '$1'));
  if (range !== undefined) {
    const plain = range.prefix === range.bits ? unwrapAddress(range) : range;
    return { text, range: { ...plain, prefix: Math.min(range.prefix, plain.bits) }, ...ports };
  }
  if (/^\[|\/|:/.test(host)) throw new Error(`${show(text)} has no address that can be read`);
  const labels = host.replace(/\.$/, '').split('.');
  if (labels.some((label) => label.includes('*')))
    return { text, labels: patternLabels(text, labels), ...ports };
  const named = parseWrittenHost(host);
  if (named === undefined) throw new Error(`${show(text)} names no host`);
  return 'name' in named
    ? { text, labels: named.name.split('.'), ...ports }
    : { text, range: { ...named.address, prefix: named.address.bits }, ...ports };
}

/** True when the rule is on this host, whatever the port. */
export function matchesHost({ labels, range }: HostRule, host: Host): boolean {
  if ('address' in host) return range !== undefined && inRange(range, unwrapAddress(host.address));
  return labels !== undefined && matchLabels(labels, host.name.split('.'));
}

/** `otherwise`: the ports of a rule that names none; undefined for all. */
export function matchesPort({ ports }: HostRule, port: number, otherwise?: readonly number[]): boolean {
  if (ports === undefined) return otherwise === undefined || otherwise.includes(port);
  return ports.some(({ first, last }) => port >= first && port <= last);
}

/** The ports that a rule names. */
export function portsOf({ ports = [] }: HostRule): number[] | 'all' {
  if (ports.includes(everyPort)) return 'all';
  return ports.flatMap(({ first, last }) =>
    Array.from({ length: last - first + 1 }, (_, index) => first + index),
  );
}

/** Compares from the right, because `**` may only stand at the left. */
function matchLabels(pattern: readonly string[], labels: readonly string[]): boolean {
  const open = pattern[0] === '**';
  const fixed = open ? pattern.slice(1) : pattern;
  if (open ? labels.length <= fixed.length : labels.length !== fixed.length) return false;
  const offset = labels.length - fixed.length;
  return fixed.every((part, index) => matchLabel(part, labels[offset + index] ?? ''));
}

/** One `*` at most, so there is nothing to try twice. */
function matchLabel(part: string, label: string): boolean {
  const star = part.indexOf('*');
  if (star === -1) return part === label;
  const [head, tail] = [part.slice(0, star), part.slice(star + 1)];
  return label.length >= part.length - 1 && label.startsWith(head) && label.endsWith(tail);
}

function patternLabels(text: string, given: readonly string[]): string[] {
  const labels = given.map((label) => label.toLowerCase());
  const isName = labels.every((label, index) =>
    label === '**'
      ? index === 0
      : /^[a-z0-9_-]*\*?[a-z0-9_-]*$/.test(label) && label !== '' && label.length <= 63,
  );
  if (!isName)
    throw new Error(
      `${show(text)} is no pattern: a label has one * at most, ** stands at the beginning only, and other letters are written as xn--`,
    );
  if (labels.length === 1 && labels[0] !== '**')
    throw new Error(`${show(text)} would match names without a dot only; write ** for every host`);
  return labels;
}

/** Behind the last colon, unless that belongs to an address without brackets. */
function split(text: string): { host: string; ports: { ports?: PortRange[] } } {
  if (/[\s@?#\\]|:\/\//.test(text))
    throw new Error(`${show(text)} is no host: leave out scheme, user and path`);
  const match = /^(\[[^\]]*\](?:\/\d+)?|[^:]*):([^:\]]*)$/.exec(text);
  if (match === null) return { host: text, ports: {} };
  const [, host = '', list = ''] = match;
  if (list === '*') return { host, ports: { ports: [everyPort] } };
  const ports = list.split(',').map((part) => readPorts(text, part));
  const count = ports.reduce((sum, { first, last }) => sum + last - first + 1, 0);
  if (count > mostPorts) throw new Error(`${show(text)} names ${count} ports; ${mostPorts} is the most`);
  return { host, ports: { ports } };
}

function readPorts(text: string, part: string): PortRange {
  const match = /^(\d{1,5})(?:-(\d{1,5}))?$/.exec(part);
  const first = Number(match?.[1] ?? 0);
  const last = Number(match?.[2] ?? first);
  if (first < 1 || last > 65_535 || last < first)
    throw new Error(`${show(text)} has no port from 1 to 65535 behind its colon`);
  return { first, last };
}

function show(text: string): string {
  return JSON.stringify(text.length > 100 ? `${text.slice(0, 100)}…` : text);
}
