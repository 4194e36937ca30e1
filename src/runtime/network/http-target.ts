/** Finds the host of an HTTP request. Where two parts of it disagree, we cannot tell and refuse it. */
import { type Host, parseHost } from '../../protocol/network/host.js';

export interface HttpTarget {
  readonly host: Host;
  readonly port: number;
  /** The path that the client requests from the server. */
  readonly path: string;
}

interface RequestHead {
  readonly url?: string | undefined;
  readonly rawHeaders: readonly string[];
}

/** Throws an error whose message names the ambiguity. `defaultPort`: the port of the connection. */
export function readTarget({ url = '', rawHeaders }: RequestHead, defaultPort: number): HttpTarget {
  const hosts = rawHeaders.filter(
    (_, index) => index % 2 === 1 && rawHeaders[index - 1]?.toLowerCase() === 'host',
  );
  if (hosts.length > 1) throw new Error('The request has more than one Host header');
  const absolute = /^http:\/\/([^/?#]*)(.*)$/is.exec(url);
  const named = hosts[0];
  if (absolute === null) {
    if (!url.startsWith('/') && url !== '*') throw new Error('The request has no target that can be judged');
    if (named === undefined) throw new Error('The request has no Host header');
    return { ...readAuthority(named, defaultPort), path: url };
  }
  const [, authority = '', rest = ''] = absolute;
  const target = readAuthority(authority, 80);
  if (named !== undefined) {
    const { host, port } = readAuthority(named, 80);
    if (!sameHost(host, target.host) || port !== target.port)
      throw new Error('The target and the Host header of the request name different hosts');
  }
  return { ...target, path: rest.startsWith('/') ? rest : `/${rest}` };
}

/** `example.com`, `example.com:8080`, `[::1]:80`. No user before it. */
export function readAuthority(text: string, defaultPort: number): { host: Host; port: number } {
  const match = /^(\[[^\]]*\]|[^:@]*)(?::(\d{1,5}))?$/.exec(text);
  const host = match === null ? undefined : parseHost(match[1] ?? '');
  const port = match?.[2] === undefined ? defaultPort : Number(match[2]);
  if (host === undefined || port < 1 || port > 65_535)
    throw new Error(`${JSON.stringify(text.slice(0, 100))} is no host`);
  return { host, port };
}

export function sameHost(one: Host, other: Host): boolean {
  if ('name' in one) return 'name' in other && one.name === other.name;
  return (
    'address' in other && one.address.bits === other.address.bits && one.address.value === other.address.value
  );
}
