/** The options that every server command takes: where it listens, who may connect, and which cell it serves. */
import { randomBytes } from 'node:crypto';
import { type Command, InvalidArgumentError } from 'commander';
import { collect } from '../base/command-line.js';
import type { Exposure, ListenAddress } from '../base/http/http-options.js';
import { parseListen } from '../base/http/listen-option.js';
import { type CellOptions, withCellOptions } from './cell-options.js';
import { type TrustedOptions, withTrustedOptions } from './trusted-options.js';

export interface ListenOptions {
  listen?: ListenAddress;
  tokenFile?: string;
  allowRemote?: true;
  allowHost: string[];
  allowOrigin: string[];
}

export interface ServerOptions extends CellOptions, TrustedOptions, ListenOptions {}

export function withServerOptions(command: Command, cell: { workspace?: boolean } = {}): Command {
  return withTrustedOptions(withListenOptions(withCellOptions(command, cell)));
}

export function withListenOptions(command: Command): Command {
  return command
    .option('--listen <address>', '<host>:<port>, tcp:<host>:<port> or unix:<path>', parseListen)
    .option('--token-file <file>', 'file with the token that clients must send')
    .option('--allow-remote', 'allow an address that other machines can reach')
    .option('--allow-host <name>', 'host name that requests may name; may be repeated', collect, [])
    .option('--allow-origin <origin>', 'web origin that may send requests; may be repeated', collect, []);
}

export interface Token {
  readonly token: string | undefined;
  /** Nobody knows the token yet, so print it. */
  readonly isNew: boolean;
}

/** The token of the file, else the one of a variable, which no command gets to see, else a new one. */
export async function takeToken(
  { tokenFile }: Pick<ListenOptions, 'tokenFile'>,
  from: { readonly variable?: string; readonly allowAnonymous?: boolean | undefined } = {},
): Promise<Token> {
  const { readToken } = await import('../base/http/token.js');
  const { variable } = from;
  const named = variable === undefined ? undefined : process.env[variable] || undefined;
  if (variable !== undefined) delete process.env[variable];
  const given = readToken({ file: tokenFile }) ?? named;
  if (given !== undefined || from.allowAnonymous) return { token: given, isNew: false };
  return { token: randomBytes(24).toString('hex'), isNew: true };
}

/** Where a server with an address listens, or else its protocol's own place. */
export function exposureOf(
  { listen, allowRemote, allowHost, allowOrigin }: ListenOptions,
  instead: ListenAddress,
): Omit<Exposure, 'token'> {
  return { listen: listen ?? instead, allowRemote, hosts: allowHost, origins: allowOrigin };
}

export function parsePort(text: string): number {
  if (!/^\d{1,5}$/.test(text) || Number(text) > 65_535)
    throw new InvalidArgumentError('Give a port, a number up to 65535.');
  return Number(text);
}
