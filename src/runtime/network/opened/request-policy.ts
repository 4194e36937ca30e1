/** Which requests a host takes, where rules say more than that it may be reached. */
import { compileGlob, type GlobMatcher } from '../../../base/glob.js';
import type { Host } from '../../../protocol/network/host.js';
import { type HostRule, matchesHost, matchesPort, parseRule } from '../../../protocol/network/host-rule.js';
import type { RequestRule } from '../../../protocol/network/network-schema.js';
import { formReader, isCompressed, namedInHeaders, namesMethod } from './other-requests.js';

interface Compiled {
  /** The whole rule. */
  readonly text: string;
  readonly host: HostRule;
  readonly methods: ReadonlySet<string> | undefined;
  readonly paths: readonly GlobMatcher[] | undefined;
}

const usualPorts = [80, 443];

/** Servers disagree on what such a path names. */
const ambiguousPath = /\/\/|\\|\/\.{1,2}(?:\/|$)|%(?:2f|5c|2e|00|25)|[^\x21-\x7e]|;/i;

export class RequestPolicy {
  readonly #rules: readonly Compiled[];

  constructor(rules: readonly RequestRule[]) {
    this.#rules = rules.map(({ host, methods, paths }) => ({
      text: JSON.stringify([host, methods, paths]),
      host: parseRule(host),
      methods: methods && new Set(methods),
      paths: paths?.map((path) => compileGlob(path, 'path')),
    }));
  }

  /** True when requests to that host have to be read. */
  isOn(host: Host, port: number): boolean {
    return this.#on(host, port).length > 0;
  }

  /** True when both say the same of that host. */
  agrees(other: RequestPolicy, host: Host, port: number): boolean {
    const [one, two] = [this.#on(host, port), other.#on(host, port)];
    return one.length === two.length && one.every(({ text }, index) => text === two[index]?.text);
  }

  /** Why the request is refused; undefined when it passes. */
  refuses(
    host: Host,
    port: number,
    { method, path, rawHeaders }: { method: string; path: string; rawHeaders: readonly string[] },
  ): string | undefined {
    const rules = this.#on(host, port);
    if (rules.length === 0) return undefined;
    const named = namedInHeaders(rawHeaders);
    if (named !== undefined) return `a header names another ${named} than the request has`;
    if (namesMethods(rules) && namesMethod(path))
      return 'its query names another method than the request has';
    const [pathname = ''] = path.split(/[?#]/, 1);
    // What passes after an upgrade has no methods, so a rule that names some says nothing about it.
    const isUpgrade = rawHeaders.some((name, index) => index % 2 === 0 && /^upgrade$/i.test(name));
    const byMethod = rules.filter(
      ({ methods }) => methods === undefined || (!isUpgrade && methods.has(method)),
    );
    if (byMethod.length === 0)
      return isUpgrade
        ? 'no rule without methods allows a connection there that requests leave'
        : `no rule allows the method ${method} there`;
    if (byMethod.some(({ paths }) => paths === undefined)) return undefined;
    if (ambiguousPath.test(pathname)) return 'its path can be read in more than one way';
    const allowed = byMethod.some(({ paths }) => paths?.some((fits) => fits(pathname)));
    return allowed ? undefined : `no rule allows ${method} on this path there`;
  }

  /** Returns what throws for a piece of a body that names another method than the request has. */
  reader(host: Host, port: number, rawHeaders: readonly string[]): ((chunk: Buffer) => void) | undefined {
    const isOther = namesMethods(this.#on(host, port)) ? formReader(rawHeaders) : undefined;
    if (isOther === undefined) return undefined;
    const unread = isCompressed(rawHeaders);
    return (chunk) => {
      if (unread) throw new Error('Its form is compressed, and could name another method');
      if (isOther(chunk)) throw new Error('Its form names another method than the request has');
    };
  }

  #on(host: Host, port: number): Compiled[] {
    return this.#rules.filter(
      (rule) => matchesHost(rule.host, host) && matchesPort(rule.host, port, usualPorts),
    );
  }
}

/** Where no rule names methods, it does not matter which one a server takes. */
function namesMethods(rules: readonly Compiled[]): boolean {
  return rules.some(({ methods }) => methods !== undefined);
}
