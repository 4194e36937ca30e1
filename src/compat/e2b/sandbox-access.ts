/** Who may use a sandbox: holders of its tokens, and of addresses of files that these signed. */
import { hash, timingSafeEqual } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Pace } from '../../base/pace.js';
import { E2bError } from './e2b-errors.js';
import type { Sandbox } from './e2b-sandbox.js';
import { isSame, type Sandboxes } from './e2b-sandboxes.js';

export interface FileQuery {
  readonly path: string;
  readonly username?: string | undefined;
  readonly signature?: string | undefined;
  readonly signature_expiration?: string | undefined;
}

export type FileOperation = 'read' | 'write';

/** Whoever has a token of a sandbox may run programs in it. */
export function checkToken(
  request: FastifyRequest,
  reply: FastifyReply,
  sandboxes: Sandboxes,
  sandbox: Sandbox,
): void {
  const has = (token: string) => isSame(request.headers['x-access-token'], token);
  if (!sandbox.facts.secure || sandboxes.admits(sandbox, 'access', has, request, reply)) return;
  throw new E2bError(
    401,
    'unauthorized access, please provide a valid access token or method signing if supported',
  );
}

/** Whoever has the other one may use the ports of a private sandbox. */
export function checkTraffic(
  request: FastifyRequest,
  reply: FastifyReply,
  sandboxes: Sandboxes,
  sandbox: Sandbox,
): void {
  const has = (token: string) => isSame(request.headers['e2b-traffic-access-token'], token);
  if (!sandbox.facts.private || sandboxes.admits(sandbox, 'traffic', has, request, reply)) return;
  throw new E2bError(403, 'The sandbox is private: send its e2b-traffic-access-token.', {
    sandboxId: sandbox.record.id,
  });
}

export function checkFileAccess(
  request: FastifyRequest,
  reply: FastifyReply,
  sandboxes: Sandboxes,
  sandbox: Sandbox,
  query: FileQuery,
  operation: FileOperation,
): void {
  if (!sandbox.facts.secure) return;
  const given = request.headers['x-access-token'];
  if (given !== undefined) {
    const has = (token: string) => isSame(given, token);
    if (sandboxes.admits(sandbox, 'access', has, request, reply)) return;
    throw new E2bError(401, 'access token present in header but does not match');
  }
  if (query.signature === undefined) throw new E2bError(401, 'missing signature query parameter');
  const signed = (token: string) => isSigned(query, operation, token);
  if (!sandboxes.admits(sandbox, 'access', signed, request, reply))
    throw new E2bError(401, 'invalid signature');
  const { signature_expiration: end } = query;
  if (end !== undefined && Number(end) < Date.now() / 1000)
    throw new E2bError(401, 'signature is already expired');
}

/**
 * The sandbox that one of its tokens signed the address for. Anybody may ask, and there may be many tokens to compare, so
 * others get their turn in between. The address must look signed.
 */
export async function findSigned(
  sandboxes: Iterable<Sandbox>,
  query: FileQuery,
  operation: FileOperation,
): Promise<Sandbox | undefined> {
  const given = Buffer.from((query.signature ?? '').slice(version.length), 'base64');
  const pace = new Pace(undefined);
  for (const sandbox of sandboxes) {
    if (!sandbox.facts.secure) continue;
    for (const { access } of sandbox.tokens.values()) {
      if (timingSafeEqual(digestOf(query, operation, access), given)) return sandbox;
      await pace.step();
    }
  }
  return undefined;
}

function isSigned(query: FileQuery, operation: FileOperation, token: string): boolean {
  return isSame(
    query.signature,
    version + digestOf(query, operation, token).toString('base64').replace(/=+$/, ''),
  );
}

const version = 'v1_';

export function looksSigned({ signature = '' }: FileQuery): boolean {
  return /^v1_[A-Za-z0-9+/]{43}$/.test(signature);
}

/** Uses the path as the client sent it, before anybody resolves it. */
function digestOf(
  { path, username = '', signature_expiration: end }: FileQuery,
  operation: FileOperation,
  accessToken: string,
): Buffer {
  const words = [path, operation, username, accessToken, ...(end === undefined ? [] : [end])];
  return hash('sha256', words.join(':'), 'buffer');
}
