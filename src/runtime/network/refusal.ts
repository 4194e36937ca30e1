/** Why there was no connection, and how to tell the program in the cell. */
import type { Duplex } from 'node:stream';
import { formatAuthority, formatHost, type Host } from '../../protocol/network/host.js';
import { looksLikeTls } from './client-hello.js';
import type { Verdict } from './network-policy.js';
import { looksLikeHttp } from './request-line.js';

/** No rule allows the connection. */
export class Refusal extends Error {
  readonly host: Host | undefined;
  readonly port: number;
  readonly rule: string | undefined;
  readonly reason: string;

  constructor(host: Host | undefined, port: number, { rule, reason = 'no rule allows it' }: Verdict) {
    super(`The network rules of this cell refuse ${place(host, port)}: ${reason}.`);
    this.host = host;
    this.port = port;
    this.rule = rule;
    this.reason = reason;
  }

  /** For a program that shows a server's answer. */
  toJSON(): object {
    return {
      error: 'refused-by-network-rules',
      message: this.message,
      host: this.host === undefined ? null : formatHost(this.host),
      port: this.port,
      rule: this.rule ?? null,
      reason: this.reason,
      howToAllow: `The owner of this cell can allow it: --allow ${place(this.host, this.port)}, or runtime.network.allow.`,
    };
  }
}

/** The rules allow the connection, but nothing answers. */
export class Unreachable extends Error {
  constructor(host: Host, port: number, reason: string) {
    super(`${place(host, port)} cannot be reached: ${reason}.`);
  }

  toJSON(): object {
    return { error: 'unreachable', message: this.message };
  }
}

function place(host: Host | undefined, port: number): string {
  return host === undefined ? `port ${port}` : formatAuthority(host, port);
}

/** A fatal alert, `access_denied`. */
const accessDenied = Buffer.from([21, 3, 3, 0, 2, 2, 49]);

/** Answers the program in its own protocol, by its first bytes, and ends the connection. */
export function refuseStream(stream: Duplex, first: Buffer, error: Error): void {
  if (looksLikeTls(first)) lastWords(stream, accessDenied);
  else if (looksLikeHttp(first)) lastWords(stream, httpRefusal(error));
  else reset(stream);
}

export function httpRefusal(error: Error): string {
  const body = `${JSON.stringify(error)}\n`;
  const status = error instanceof Refusal ? '403 Forbidden' : '502 Bad Gateway';
  return [
    `HTTP/1.1 ${status}`,
    'Content-Type: application/json',
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Connection: close',
    `X-Workcell-Network: ${error instanceof Refusal ? 'refused' : 'unreachable'}`,
    '',
    body,
  ].join('\r\n');
}

/** As a closed port would. */
export function reset(stream: Duplex): void {
  if ('resetAndDestroy' in stream && typeof stream.resetAndDestroy === 'function') stream.resetAndDestroy();
  else stream.destroy();
}

/** Read and drop what the program still sends, so that a reset does not lose our answer; but not for ever. */
const lingerMs = 2000;

export function lastWords(stream: Duplex, words: Buffer | string): void {
  const timer = setTimeout(() => stream.destroy(), lingerMs);
  stream.once('close', () => clearTimeout(timer));
  stream.resume();
  stream.end(words);
}
