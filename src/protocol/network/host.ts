/** Names of hosts as programs and people spell them, brought into one form before anything compares them. */
import { formatAddress, type IpAddress, ipv4, parseAddress, unwrapAddress } from './address.js';

/** A name in lower case without a dot at its end, or an address. */
export type Host = { readonly name: string } | { readonly address: IpAddress };

const longestName = 253;

/**
 * Reads a host as it comes over a wire: from a TLS hello, a `Host` header, a proxy request. Undefined for what no
 * resolver and every attack would use: bytes outside of letters, digits, `-` and `_`, empty or long labels.
 */
export function parseHost(text: string): Host | undefined {
  const bracketed = /^\[([^\]]*)\]$/.exec(text)?.[1];
  const literal = parseAddress(bracketed ?? text);
  if (literal !== undefined) {
    if (bracketed !== undefined && literal.bits === 32) return undefined;
    return { address: unwrapAddress(literal) };
  }
  if (bracketed !== undefined) return undefined;
  const name = text.replace(/\.$/, '').toLowerCase();
  const labels = name.split('.');
  if (name.length > longestName || !labels.every((label) => /^[a-z0-9_-]{1,63}$/.test(label)))
    return undefined;
  // A last label that is a number makes it an address, in whatever base: resolvers read 0x7f.1 as 127.0.0.1.
  if (/^(?:\d+|0x[0-9a-f]*)$/.test(labels.at(-1) ?? '')) {
    const address = parseNumbers(labels);
    return address === undefined ? undefined : { address };
  }
  return { name };
}

/** The same for the text of a person, who can use letters of any language. */
export function parseWrittenHost(text: string): Host | undefined {
  if (/[^\x21-\x7e]/.test(text)) {
    // Letters only: what separates the parts of an address would move into another part.
    if (/[\x00-\x20\x7f:/?#@[\]\\%]/.test(text) || !URL.canParse(`http://${text}`)) return undefined;
    return parseHost(new URL(`http://${text}`).hostname);
  }
  return parseHost(text.includes(':') && !text.startsWith('[') ? `[${text}]` : text);
}

export function formatHost(host: Host): string {
  return 'name' in host ? host.name : formatAddress(host.address);
}

/** For a place where a port follows. */
export function formatAuthority(host: Host, port: number): string {
  const text = formatHost(host);
  return `${text.includes(':') ? `[${text}]` : text}:${port}`;
}

/** One to four numbers in decimal, octal or hexadecimal; the last one fills the remaining bytes. */
function parseNumbers(labels: readonly string[]): IpAddress | undefined {
  if (labels.length > 4) return undefined;
  const numbers = labels.map(parseNumber);
  const last = numbers.pop();
  if (last === undefined || numbers.some((number) => number === undefined || number > 255)) return undefined;
  const left = 4 - numbers.length;
  if (last >= 256 ** left) return undefined;
  const end = Array.from({ length: left }, (_, index) => Math.floor(last / 256 ** (left - 1 - index)) % 256);
  return ipv4([...(numbers as number[]), ...end]);
}

function parseNumber(text: string): number | undefined {
  if (text.length > 24) return undefined;
  if (/^0x[0-9a-f]*$/.test(text)) return text === '0x' ? 0 : Number.parseInt(text.slice(2), 16);
  if (/^0[0-7]*$/.test(text)) return Number.parseInt(text, 8);
  return /^[1-9]\d*$/.test(text) ? Number(text) : undefined;
}
