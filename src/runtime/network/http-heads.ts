/** Heads of requests and answers, as they are passed on. */
import type { IncomingMessage } from 'node:http';
import { formatHost } from '../../protocol/network/host.js';
import type { HttpTarget } from './http-target.js';
import { Unreachable } from './refusal.js';

/** Headers that hold for one connection only. */
const ownToConnection = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'proxy-authorization',
  'upgrade',
]);

/** The head of an answer, ready to pass on. The parser accepts values that we must not write. */
export function readAnswer({ host, port }: HttpTarget, answer: IncomingMessage) {
  const { statusCode: status = 0, statusMessage = '', rawHeaders } = answer;
  if (status < 200 || status > 599) throw new Unreachable(host, port, `its answer has the status ${status}`);
  const reason = statusMessage.replace(/[^\t\x20-\x7e\x80-\xff]/g, '?');
  return { status, reason, headers: passedOn(rawHeaders, false) };
}

/** Whether a body follows, by the framing of the request alone. */
export function bodyOf({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}

/** The headers without those for one connection, and without those that `Connection` names. */
export function passedOn(raw: readonly string[], keepsFraming: boolean, method = 'GET'): string[] {
  const named = raw
    .filter((_, index) => index % 2 === 1 && raw[index - 1]?.toLowerCase() === 'connection')
    .flatMap((value) =>
      value
        .toLowerCase()
        .split(',')
        .map((part) => part.trim()),
    );
  const dropped = new Set([...ownToConnection, ...named, ...(keepsFraming ? [] : ['transfer-encoding'])]);
  for (const kept of ['host', 'content-length', ...(keepsFraming ? ['transfer-encoding'] : [])])
    dropped.delete(kept);
  const headers: string[] = [];
  let hasLength = false;
  for (let index = 0; index < raw.length; index += 2) {
    const [name = '', value = ''] = [raw[index], raw[index + 1]];
    if (dropped.has(name.toLowerCase())) continue;
    if (/^content-length$|^transfer-encoding$/i.test(name)) hasLength = true;
    headers.push(name, value);
  }
  if (!hasLength && ['POST', 'PUT', 'PATCH'].includes(method)) headers.push('Content-Length', '0');
  return headers;
}

/** A request to a proxy can do without a `Host` header in HTTP/1.0; a server would choose one of its hosts then. */
export function withHost(headers: string[], { host, port }: HttpTarget): string[] {
  if (headers.some((name, index) => index % 2 === 0 && name.toLowerCase() === 'host')) return headers;
  const text = formatHost(host);
  const written = text.includes(':') ? `[${text}]` : text;
  return ['Host', port === 80 ? written : `${written}:${port}`, ...headers];
}

export function headBytes({ rawHeaders, url = '' }: IncomingMessage): number {
  return rawHeaders.reduce((sum, part) => sum + part.length + 2, url.length + 16);
}

export function rawHead(status: number, reason: string, rawHeaders: readonly string[]): string {
  const lines = [`HTTP/1.1 ${status} ${reason}`];
  for (let index = 0; index < rawHeaders.length; index += 2)
    lines.push(`${rawHeaders[index]}: ${rawHeaders[index + 1]}`);
  return `${lines.join('\r\n')}\r\n\r\n`;
}
