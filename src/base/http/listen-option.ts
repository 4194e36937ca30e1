import { InvalidArgumentError } from 'commander';
import type { ListenAddress } from './http-options.js';

/** Reads the address for a server to listen on. */
export function parseListen(text: string): ListenAddress {
  const [, path] = /^unix:(.+)$/.exec(text) ?? [];
  if (path !== undefined) return { path };
  const [, bracketed, plain, port] = /^(?:tcp:)?(?:\[([\da-f:.]+)\]|([^:]+)):(\d{1,5})$/i.exec(text) ?? [];
  const host = bracketed ?? plain;
  if (host === undefined || Number(port) > 65_535)
    throw new InvalidArgumentError(
      'Give <host>:<port>, such as 127.0.0.1:8700, or unix:<path>; port 0 takes a free one.',
    );
  return { host, port: Number(port) };
}
