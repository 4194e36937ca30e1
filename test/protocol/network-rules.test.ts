/** Hosts, addresses and rules: every spelling of a host is one host, and no spelling gets past a rule. */
import { describe, expect, test } from 'vitest';
import {
  formatAddress,
  type IpAddress,
  kindOf,
  parseAddress,
  parseRange,
} from '../../src/protocol/network/address.js';
import { formatHost, parseHost, parseWrittenHost } from '../../src/protocol/network/host.js';
import { matchesHost, matchesPort, parseRule, portsOf } from '../../src/protocol/network/host-rule.js';
import { networkRulesSchema } from '../../src/protocol/network/network-schema.js';
import { seededRandom } from '../seed.js';

const shown = (text: string) => {
  const host = parseHost(text);
  return host === undefined ? undefined : formatHost(host);
};

const kind = (text: string) => kindOf(parseAddress(text) as IpAddress);

describe('a host as it comes over a wire', () => {
  test.each([
    ['Example.COM', 'example.com'],
    ['example.com.', 'example.com'],
    ['_dmarc.example.com', '_dmarc.example.com'],
    ['127.0.0.1', '127.0.0.1'],
    ['127.1', '127.0.0.1'],
    ['0x7f.1', '127.0.0.1'],
    ['0177.0.0.01', '127.0.0.1'],
    ['2130706433', '127.0.0.1'],
    ['0x7F000001', '127.0.0.1'],
    ['[::1]', '::1'],
    ['[::ffff:127.0.0.1]', '127.0.0.1'],
    ['[::ffff:7f00:1]', '127.0.0.1'],
    ['[64:ff9b::169.254.169.254]', '169.254.169.254'],
    ['[2002:7f00:1::]', '127.0.0.1'],
    ['[2001:DB8::0:1]', '2001:db8::1'],
  ])('%s is %s', (text, host) => expect(shown(text)).toBe(host));

  test.each([
    '',
    '.',
    '..',
    '.example.com',
    'example..com',
    'evil.test\0.example.com',
    'user@example.com',
    'example.com:80',
    'example.com/path',
    'exa mple.com',
    'exämple.com',
    'example。com',
    '%65xample.com',
    '256.1',
    '1.2.3.4.5',
    '1.2.3.08',
    '[127.0.0.1]',
    '[::1%eth0]',
    '[1:2:3:4:5:6:7:8:9]',
    '[1::2::3]',
    '[example.com]',
    `${'a'.repeat(64)}.com`,
    `${'a.'.repeat(127)}com`,
    '9'.repeat(400),
  ])('%j is none', (text) => expect(shown(text)).toBeUndefined());

  test('a person may write letters of any language, and nothing that moves into another part', () => {
    expect(parseWrittenHost('bücher.example')).toEqual({ name: 'xn--bcher-kva.example' });
    expect(parseWrittenHost('2001:db8::1')).toEqual(parseHost('[2001:db8::1]'));
    for (const text of ['bücher.example:80', 'ü@example.com', 'ü/example.com', 'ü\\example.com'])
      expect(parseWrittenHost(text)).toBeUndefined();
  });
});

describe('an address', () => {
  test('is written and read back as the same number', () => {
    const random = seededRandom();
    for (let index = 0; index < 500; index++) {
      const words = Array.from({ length: 8 }, () => (random.chance(0.5) ? 0 : random.int(65_536)));
      const value = words.reduce((sum, word) => (sum << 16n) | BigInt(word), 0n);
      const address = { bits: 128, value } as const;
      expect(parseAddress(formatAddress(address)), words.join()).toEqual(address);
      // The kernel and the URL parser of this machine write it the same way, where it holds no IPv4 address.
      if (value >> 32n > 0xffffn)
        expect(new URL(`http://[${formatAddress(address)}]`).hostname).toBe(`[${formatAddress(address)}]`);
    }
  });

  test.each([
    ['93.184.216.34', 'public'],
    ['2606:4700::1111', 'public'],
    ['10.1.2.3', 'private'],
    ['172.31.255.255', 'private'],
    ['172.32.0.0', 'public'],
    ['192.168.1.1', 'private'],
    ['100.64.0.1', 'private'],
    ['fd00::1', 'private'],
    ['127.9.9.9', 'loopback'],
    ['0.0.0.0', 'loopback'],
    ['::', 'loopback'],
    ['::1', 'loopback'],
    ['::ffff:10.0.0.1', 'private'],
    ['::127.0.0.1', 'loopback'],
    ['2002:a00:1::', 'private'],
    ['64:ff9b::a00:1', 'private'],
    ['169.254.1.1', 'metadata'],
    ['fe80::a9fe:a9fe', 'metadata'],
    ['fe80::1', 'link-local'],
    ['169.254.169.254', 'metadata'],
    ['::ffff:169.254.169.254', 'metadata'],
    ['100.100.100.200', 'metadata'],
    ['fd00:ec2::254', 'metadata'],
    ['224.0.0.1', 'reserved'],
    ['255.255.255.255', 'reserved'],
    ['198.18.0.1', 'reserved'],
    ['ff02::1', 'reserved'],
    ['::ffff:0:127.0.0.1', 'reserved'],
    ['64:ff9c::7f00:1', 'reserved'],
    ['4000::1', 'reserved'],
  ])('%s is %s', (text, expected) => expect(kind(text)).toBe(expected));

  test('a range with bits below its prefix is none: it would be another range than it looks', () => {
    expect(parseRange('10.0.0.0/8')).toMatchObject({ prefix: 8 });
    for (const text of ['10.0.0.1/8', '10.0.0.0/33', '10.0.0.0/', '10.0.0.0/8/8', 'fe80::/129'])
      expect(parseRange(text)).toBeUndefined();
  });
});

describe('a rule', () => {
  const matches = (rule: string, text: string) => {
    const host = parseHost(text);
    return host !== undefined && matchesHost(parseRule(rule), host);
  };

  test.each([
    ['example.com', 'example.com', true],
    ['EXAMPLE.com.', 'example.COM', true],
    ['example.com', 'www.example.com', false],
    ['example.com', 'notexample.com', false],
    ['example.com', 'example.com.evil.test', false],
    ['*.example.com', 'www.example.com', true],
    ['*.example.com', 'example.com', false],
    ['*.example.com', 'a.b.example.com', false],
    ['**.example.com', 'a.b.example.com', true],
    ['**.example.com', 'example.com', false],
    ['**.example.com', 'evilexample.com', false],
    ['api-*.example.com', 'api-1.example.com', true],
    ['api-*.example.com', 'api-1.evil.example.com', false],
    ['a*a.example.com', 'a.example.com', false],
    ['**', 'anything.test', true],
    ['**', '10.0.0.1', false],
    ['bücher.example', 'xn--bcher-kva.example', true],
    ['127.0.0.1', '0x7f.1', true],
    ['127.0.0.1', '[::ffff:127.0.0.1]', true],
    ['10.0.0.0/8', '10.200.0.1', true],
    ['10.0.0.0/8', '11.0.0.1', false],
    ['[2001:db8::]/32', '[2001:db8::5]', true],
    ['2130706433', '127.0.0.1', true],
  ])('%s on %s: %s', (rule, host, expected) => expect(matches(rule, host)).toBe(expected));

  test('ports stand behind the last colon', () => {
    const rule = parseRule('db.example.com:5432,6000-6002');
    expect(portsOf(rule)).toEqual([5432, 6000, 6001, 6002]);
    expect(matchesPort(rule, 6001)).toBe(true);
    expect(matchesPort(rule, 443, [443])).toBe(false);
    expect(matchesPort(parseRule('db.example.com'), 443, [443])).toBe(true);
    expect(portsOf(parseRule('[2001:db8::1]:8443'))).toEqual([8443]);
    expect(portsOf(parseRule('10.0.0.0/8:5432'))).toEqual([5432]);
    expect(portsOf(parseRule('db.example.com:*'))).toBe('all');
    expect(matchesPort(parseRule('[2001:db8::]/32:*'), 65_535)).toBe(true);
    expect(
      matchesHost(parseRule('[2001:db8::1]:8443'), { address: parseAddress('2001:db8::1') as IpAddress }),
    ).toBe(true);
  });

  test.each([
    '',
    '*',
    '*.',
    'a.**.example.com',
    'a**.example.com',
    'https://example.com',
    'user@example.com',
    'example.com/path',
    'example.com:0',
    'example.com:65536',
    'example.com:80-79',
    'example.com:http',
    'example.com:1-60000',
    'exa mple.com',
    '10.0.0.1/8',
    'evil\0.example.com',
  ])('%j is refused, with what is wrong', (text) => {
    expect(() => parseRule(text)).toThrow(/"/);
  });

  test('no text makes the readers throw anything else, or take long', () => {
    const alphabet = [
      'a',
      '.',
      '*',
      ':',
      '[',
      ']',
      '/',
      '0',
      '9',
      'x',
      '-',
      '@',
      '\0',
      'ü',
      ',',
      '::ffff:',
      '127.0.0.1',
    ];
    const random = seededRandom();
    for (let index = 0; index < 1000; index++) {
      const text = Array.from({ length: random.int(12) }, () => random.pick(alphabet)).join('');
      const host = parseHost(text);
      // Whatever parses has only one written form.
      if (host !== undefined)
        expect(parseHost('name' in host ? host.name : bracketed(formatHost(host)))).toEqual(host);
      expect(networkRulesSchema.safeParse({ allow: [text] }).success).toBe(reads(text));
    }
  });
});

function bracketed(text: string): string {
  return text.includes(':') ? `[${text}]` : text;
}

function reads(text: string): boolean {
  try {
    parseRule(text);
    return true;
  } catch {
    return false;
  }
}

test('a place that a name leads to is an address, and no metadata service', () => {
  const hosts = (place: string) => networkRulesSchema.safeParse({ hosts: { 'a.test': place } }).success;
  expect(['127.0.0.1', '127.0.0.1:80', '[::1]:80', '::1', '10.0.0.1:5432'].map(hosts)).not.toContain(false);
  expect(
    ['localhost', '169.254.169.254', '[::ffff:169.254.169.254]:80', '1.2.3.4:0', '1.2.3.0/24', ''].map(hosts),
  ).not.toContain(true);
});
