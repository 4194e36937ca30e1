/**
 * Decides from which addresses a page may load: not from private networks, except the cell's own loopback. In a cell with a
 * gateway each name has an address from 198.18.0.0/15, and the gateway judges what the name leads to.
 */
import { BlockList, isIP } from 'node:net';
import type { PluginCell } from '../plugin.js';
import type { BrowserOptions } from './browser-options.js';

const privateRanges = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.168.0.0/16',
  '224.0.0.0/4',
  '240.0.0.0/4',
  '::/128',
  '64:ff9b::/96',
  'fc00::/7',
  'fe80::/10',
  'ff00::/8',
];

/** Schemes that carry their content with them, or none. */
const harmless = new Set(['about:', 'blob:', 'data:']);

const mostNames = 1000;
const rememberedMs = 30_000;

export class Addresses {
  readonly #cell: PluginCell;
  readonly #allowFiles: boolean;
  readonly #forbidden = blockList(privateRanges);
  readonly #allowed: BlockList;
  readonly #names = new Map<string, { verdict: Promise<string | undefined>; until: number }>();

  constructor(cell: PluginCell, { allowAddresses, allowFiles }: BrowserOptions) {
    this.#cell = cell;
    this.#allowFiles = allowFiles;
    this.#allowed = blockList(allowAddresses);
  }

  /** Why a page may load nothing from there; undefined when it may. */
  refusal(address: string): string | undefined | Promise<string | undefined> {
    const url = URL.canParse(address) ? new URL(address) : undefined;
    if (url === undefined) return `${short(address)} is no address; give one such as http://localhost:3000.`;
    if (harmless.has(url.protocol)) return undefined;
    if (url.protocol === 'file:') {
      return this.#allowFiles
        ? undefined
        : `${short(address)} is a file: address, and those are refused; browse the path of the file instead, or set allowFiles.`;
    }
    if (!['http:', 'https:', 'ws:', 'wss:'].includes(url.protocol))
      return `${short(address)} is refused: only http and https addresses can be opened.`;
    const host = url.hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '');
    if (host === 'localhost' || host.endsWith('.localhost')) return undefined;
    return isIP(host) === 0 ? this.#ofName(host) : this.refusalOf(host, host);
  }

  /** The same for the number of an address, however we learned it. */
  refusalOf(number: string, host: string): string | undefined {
    const plain = number.replace(/^::ffff:(?=\d+\.)/i, '');
    const family = isIP(plain) === 6 ? 'ipv6' : 'ipv4';
    if (isIP(plain) === 0 || isLoopback(plain)) return undefined;
    if (this.#allowed.check(plain, family) || !this.#forbidden.check(plain, family)) return undefined;
    const led = host === number ? '' : `, which ${short(host)} leads to,`;
    return `${number}${led} is an address of a private network, and those are refused; name its range in allowAddresses to permit it.`;
  }

  #ofName(host: string): Promise<string | undefined> {
    const known = this.#names.get(host);
    if (known !== undefined && known.until > Date.now()) return known.verdict;
    if (this.#names.size >= mostNames) this.#names.clear();
    const verdict = this.#lookUp(host);
    this.#names.set(host, { verdict, until: Date.now() + rememberedMs });
    return verdict;
  }

  /**
   * Asks inside the cell, because a query to this side's own resolvers would be a way out of a cell that has none.
   * Leaves an unknown name to the browser, which can reach it only through a proxy, if at all.
   */
  async #lookUp(host: string): Promise<string | undefined> {
    if (!/^[\w.-]{1,253}$/.test(host) || host.startsWith('-')) return `${short(host)} is no name of a host.`;
    const { stdin, stdout, stderr, exited } = await this.#cell.spawn(['getent', 'ahosts', host]);
    stdin.destroy();
    stderr.resume();
    let answer = '';
    for await (const chunk of stdout.setEncoding('utf8')) answer = (answer + chunk).slice(0, 65_536);
    await exited;
    for (const line of answer.split('\n')) {
      const refusal = this.refusalOf(line.split(/\s/, 1)[0] ?? '', host);
      if (refusal !== undefined) return refusal;
    }
    return undefined;
  }
}

function isLoopback(number: string): boolean {
  return number === '::1' || /^127\./.test(number);
}

function blockList(ranges: readonly string[]): BlockList {
  const list = new BlockList();
  for (const range of ranges) {
    const [address = '', bits] = range.split('/');
    list.addSubnet(address, Number(bits), isIP(address) === 6 ? 'ipv6' : 'ipv4');
  }
  return list;
}

function short(text: string): string {
  return text.length > 200 ? `${text.slice(0, 200)}…` : text;
}
