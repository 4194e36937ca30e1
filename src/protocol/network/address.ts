/** IP addresses as numbers, so that no spelling of one gets past a rule. */

/** An IPv4 or IPv6 address. */
export interface IpAddress {
  readonly bits: 32 | 128;
  readonly value: bigint;
}

/** All addresses that begin with the same bits. */
export interface IpRange extends IpAddress {
  readonly prefix: number;
}

/** What an address leads to. All but `public` need a rule of their own; `metadata` has none. */
export type AddressKind = 'public' | 'private' | 'loopback' | 'link-local' | 'metadata' | 'reserved';

/** Reads the usual spelling: dotted decimal, or IPv6 without a zone. Undefined for anything else. */
export function parseAddress(text: string): IpAddress | undefined {
  if (text.includes(':')) return parseIpv6(text);
  const match = /^(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})$/.exec(text);
  if (match === null) return undefined;
  const parts = match.slice(1);
  if (parts.some((part) => Number(part) > 255 || (part.length > 1 && part.startsWith('0')))) return undefined;
  return ipv4(parts.map(Number));
}

export function ipv4(bytes: readonly number[]): IpAddress {
  return { bits: 32, value: bytes.reduce((sum, byte) => (sum << 8n) | BigInt(byte), 0n) };
}

function parseIpv6(text: string): IpAddress | undefined {
  const halves = text.split('::');
  if (halves.length > 2) return undefined;
  const [head, tail] = halves.map((half) => (half === '' ? [] : wordsOf(half)));
  if (head === undefined || (halves.length === 2 && tail === undefined)) return undefined;
  const missing = 8 - head.length - (tail?.length ?? 0);
  if (halves.length === 1 ? missing !== 0 : missing < 1) return undefined;
  const words = [...head, ...Array.from({ length: missing }, () => 0), ...(tail ?? [])];
  return { bits: 128, value: words.reduce((sum, word) => (sum << 16n) | BigInt(word), 0n) };
}

/** The 16-bit words of a part, which can end in an IPv4 address. */
function wordsOf(part: string): number[] | undefined {
  const words: number[] = [];
  const pieces = part.split(':');
  for (const [index, piece] of pieces.entries()) {
    if (/^[0-9a-f]{1,4}$/i.test(piece)) words.push(Number.parseInt(piece, 16));
    else {
      const inner = piece.includes('.') && index === pieces.length - 1 ? parseAddress(piece) : undefined;
      if (inner === undefined) return undefined;
      words.push(Number(inner.value >> 16n), Number(inner.value & 0xffffn));
    }
  }
  return words;
}

export function formatAddress({ bits, value }: IpAddress): string {
  if (bits === 32) return [24n, 16n, 8n, 0n].map((shift) => Number((value >> shift) & 0xffn)).join('.');
  const words = Array.from({ length: 8 }, (_, index) =>
    ((value >> BigInt(112 - 16 * index)) & 0xffffn).toString(16),
  );
  const [longest] = [...words.join(':').matchAll(/(?<![0-9a-f])0(?::0)+(?![0-9a-f])/g)].sort(
    (one, other) => other[0].length - one[0].length,
  );
  const text = words.join(':');
  if (longest === undefined) return text;
  const before = text.slice(0, longest.index).replace(/:$/, '');
  return `${before}::${text.slice(longest.index + longest[0].length).replace(/^:/, '')}`;
}

/** Reads `10.0.0.0/8` or one address. Bits below the prefix must be zero: a slip there would mean another range. */
export function parseRange(text: string): IpRange | undefined {
  const [base = '', bits, ...rest] = text.split('/');
  const address = parseAddress(base);
  if (address === undefined || rest.length > 0) return undefined;
  if (bits === undefined) return { ...address, prefix: address.bits };
  const prefix = /^\d{1,3}$/.test(bits) ? Number(bits) : 129;
  if (prefix > address.bits) return undefined;
  const range = { ...address, prefix };
  return (address.value >> hostBits(range)) << hostBits(range) === address.value ? range : undefined;
}

export function inRange(range: IpRange, { bits, value }: IpAddress): boolean {
  return range.bits === bits && range.value >> hostBits(range) === value >> hostBits(range);
}

function hostBits({ bits, prefix }: IpRange): bigint {
  return BigInt(bits - prefix);
}

const low32 = 0xffff_ffffn;

/** The IPv4 address that an IPv6 one stands for: mapped, compatible, NAT64 and 6to4. Others stay as they are. */
export function unwrapAddress(address: IpAddress): IpAddress {
  if (address.bits === 32) return address;
  const { value } = address;
  const inner = (part: bigint): IpAddress => ({ bits: 32, value: part & low32 });
  if (value >> 32n === 0xffffn) return inner(value);
  if (value >> 32n === 0n && value > 1n) return inner(value);
  if (value >> 32n === 0x64_ff9b_0000_0000_0000_0000n) return inner(value);
  if (value >> 112n === 0x2002n) return inner(value >> 80n);
  return address;
}

const kinds: readonly (readonly [AddressKind, readonly string[]])[] = [
  // Those that clouds serve credentials at. In IPv4 that is the whole range of link-local addresses: each cloud has its own.
  [
    'metadata',
    [
      '169.254.0.0/16',
      'fe80::a9fe:a9fe',
      '100.100.100.200',
      '168.63.129.16',
      '192.0.0.192',
      'fd00:ec2::/32',
      'fd20:ce::254',
      'fd00:42::42',
    ],
  ],
  ['loopback', ['127.0.0.0/8', '0.0.0.0/8', '::/128', '::1']],
  ['link-local', ['fe80::/10']],
  ['private', ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', '100.64.0.0/10', 'fc00::/7', 'fec0::/10']],
  [
    'reserved',
    [
      '192.0.0.0/24',
      '192.0.2.0/24',
      '198.18.0.0/15',
      '198.51.100.0/24',
      '203.0.113.0/24',
      '224.0.0.0/3',
      '100::/64',
      '2001::/32',
      '2001:db8::/32',
      '64:ff9b:1::/48',
      'ff00::/8',
    ],
  ],
];

const table = kinds.map(
  ([kind, ranges]) => [kind, ranges.map((range) => parseRange(range) as IpRange)] as const,
);

/** Judges what an address leads to, by the IPv4 address in it where there is one. */
export function kindOf(address: IpAddress): AddressKind {
  const plain = unwrapAddress(address);
  const known = table.find(([, ranges]) => ranges.some((range) => inRange(range, plain)))?.[0];
  // Of IPv6 only this much is given to the public, and the rest has further forms of IPv4 addresses in it.
  return known ?? (plain.bits === 128 && plain.value >> 125n !== 1n ? 'reserved' : 'public');
}
