import { withoutEnd } from '../../../../base/without-end.js';

/** Hosts as the programs that connect to them read them. Where parsers differ, every reading counts. */

export interface Host {
  /** In lower case and ASCII, addresses in their usual form, without a dot at the end. */
  readonly name: string;
  /** Undefined where neither the address nor its scheme tells. */
  readonly port: number | undefined;
}

const ports: Readonly<Record<string, number | undefined>> = {
  http: 80,
  ws: 80,
  https: 443,
  wss: 443,
  ftp: 21,
  ssh: 22,
  sftp: 22,
  git: 9418,
};

/** The hosts that one address may lead to; none when it is no address. */
export function hostsOf(address: string): Host[] {
  const text = address.replace(/[\t\n\r]/g, '').trim();
  const [, scheme, rest = ''] = /^(https?|wss?|ftp):[\\/]*(.*)$/i.exec(text) ??
    /^([a-z][a-z0-9+.-]*):\/\/(.*)$/i.exec(text) ?? [undefined, undefined, text];
  if (rest === '' || /^(?:data|about|blob|javascript|mailto|file):/i.test(text)) return [];
  const usual = scheme === undefined ? undefined : ports[scheme.toLowerCase()];
  // A browser ends the host at a backslash; others, such as curl, take the text before the last @ for a user name.
  const authorities = [rest.split(/[\\/?#]/, 1)[0] ?? '', rest.split(/[/?#]/, 1)[0] ?? ''];
  const found = authorities.flatMap((authority) => readAuthority(authority, usual));
  return distinct(found);
}

/** The hosts in one word of a command line, wherever in it they stand. */
export function hostsIn(word: string): Host[] {
  const found = [...word.matchAll(/[a-z][a-z0-9+.-]{0,31}:[\\/]{2,}[^\s'"<>]+/gi)].flatMap(([url]) =>
    hostsOf(url),
  );
  const value = /^-{0,2}[\w-]+=(.+)$/.exec(word)?.[1] ?? word;
  const remote = /^(?:[^\s@/:]+@)(\[[^\]]+\]|[^\s/:@]+)(?::|$)/.exec(value)?.[1];
  if (remote !== undefined) found.push(...readAuthority(remote, 22));
  else if (bareName.test(value) || bareNumber.test(value)) found.push(...hostsOf(value));
  return distinct(found);
}

const bareName = /^(?:[\p{L}\p{N}_-]+(?:[.。．｡]|%2e))+\p{L}{2,}[.。．｡]?(?::\d+)?(?:[/?#]\S*)?$/iu;
const bareNumber = /^(?:\d{1,3}\.){3}\d{1,3}(?::\d+)?(?:[/?#]\S*)?$|^\[[\da-f:.]+\](?::\d+)?(?:\/\S*)?$/i;

function readAuthority(authority: string, usual: number | undefined): Host[] {
  const host = authority.slice(authority.lastIndexOf('@') + 1);
  const [, name = '', port] = /^(\[[^\]]*\]|[^:]*)(?::(\d*))?/.exec(host) ?? [];
  const normal = normalHost(name);
  return normal === ''
    ? []
    : [{ name: normal, port: port === undefined || port === '' ? usual : Number(port) }];
}

/** One spelling for a name or number: look-alikes become the name that a resolver looks up. */
export function normalHost(name: string): string {
  const plain = name.replace(/^\[|\]$/g, '');
  const isV6 = plain.includes(':');
  try {
    const { hostname } = new URL(`http://${isV6 ? `[${plain}]` : plain.replaceAll('\0', 'x')}/`);
    return withoutEnd(mapped(hostname.replace(/^\[|\]$/g, '')), '.');
  } catch {
    return withoutEnd(plain.toLowerCase(), '.');
  }
}

/** An IPv4 address in the form of an IPv6 one is the IPv4 address. */
function mapped(address: string): string {
  const found = /^::(?:ffff:)?([0-9a-f]{1,4}):([0-9a-f]{1,4})$/.exec(address);
  if (found === null) return address;
  return [found[1], found[2]]
    .map((part) => Number.parseInt(part ?? '0', 16))
    .flatMap((part) => [part >> 8, part & 255])
    .join('.');
}

function distinct(hosts: readonly Host[]): Host[] {
  return hosts.filter(
    ({ name, port }, index) =>
      hosts.findIndex((other) => other.name === name && other.port === port) === index,
  );
}
