/** The options that every server takes, and the limits that it keeps. */

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
  /** The server cuts off a reader that takes nothing for this long. */
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
  /** The owner may start the server without one. */
  readonly optional: boolean;
}

/** The default for a protocol. */
export const strictToken: TokenDemand = { shortest: 16, optional: false };

/** For protocols whose clients choose their own tokens, which may be short or missing. */
export const lenientToken: TokenDemand = { shortest: 1, optional: true };

/** Who may reach a server. */
export interface Exposure {
  readonly listen: ListenAddress;
  /** Every request must carry it, or one of them. Only a Unix socket works without one. */
  readonly token?: string | readonly string[] | undefined;
  /** Allows an address that is not loopback. */
  readonly allowRemote?: boolean | undefined;
  /** Works without a token: everybody who reaches the address may use it. */
  readonly allowAnonymous?: boolean | undefined;
  /** Host names that requests may name, besides loopback ones. */
  readonly hosts?: readonly string[] | undefined;
  /** Origins that browsers may send requests from. Default: none. */
  readonly origins?: readonly string[] | undefined;
}
