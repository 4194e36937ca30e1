/** What every server is started with, and the limits it keeps to. */

export type ListenAddress = { readonly path: string } | { readonly host: string; readonly port: number };

export type Log = (
  level: 'error' | 'warn' | 'info' | 'debug',
  message: string,
  fields?: Record<string, unknown>,
) => void;

export interface HttpLimits {
  /** Of a JSON body. Uploads are streams and have no limit here. */
  readonly bodyBytes: number;
  readonly headerBytes: number;
  readonly jsonDepth: number;
  /** In which the head of a request, a whole JSON body, or the next piece of an upload must arrive. */
  readonly requestMs: number;
  readonly connections: number;
  readonly requestsPerSecond: number;
  /** How many requests may come at once before the rate counts. */
  readonly burst: number;
  /** A reader that takes nothing for so long is cut off. */
  readonly stallMs: number;
}

export const defaultHttpLimits: HttpLimits = {
  bodyBytes: 32 * 1024 * 1024,
  headerBytes: 16 * 1024,
  jsonDepth: 64,
  requestMs: 30_000,
  connections: 4096,
  requestsPerSecond: 50_000,
  burst: 100_000,
  stallMs: 30_000,
};

/** What a protocol demands of the token of its server. */
export interface TokenDemand {
  /** The fewest characters. */
  readonly shortest: number;
  /** Whoever starts the server may do without one. */
  readonly optional: boolean;
}

/** That of a protocol which says nothing else. */
export const strictToken: TokenDemand = { shortest: 16, optional: false };

/** That of protocols whose clients choose their tokens themselves, and have short ones or none. */
export const lenientToken: TokenDemand = { shortest: 1, optional: true };

/** Who may reach a server. */
export interface Exposure {
  readonly listen: ListenAddress;
  /** Every request must carry it, or one of them. Only a Unix socket works without one. */
  readonly token?: string | readonly string[] | undefined;
  /** Allows an address that is not loopback. */
  readonly allowRemote?: boolean | undefined;
  /** Does without a token, so that all who reach the address may use it. */
  readonly allowAnonymous?: boolean | undefined;
  /** Host names, besides loopback ones, that requests may be addressed to. */
  readonly hosts?: readonly string[] | undefined;
  /** Origins that browsers may send requests from. Default: none. */
  readonly origins?: readonly string[] | undefined;
}
