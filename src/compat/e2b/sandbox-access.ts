/** Who may use a sandbox: holders of its tokens, and of addresses of files that these signed. */
import { createHash, timingSafeEqual } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
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
  const signed = (token: string) => isSignedBy(query, operation, token);
  if (!sandboxes.admits(sandbox, 'access', signed, request, reply))
    throw new E2bError(401, 'invalid signature');
  const { signature_expiration: end } = query;
  if (end !== undefined && Number(end) < Date.now() / 1000)
    throw new E2bError(401, 'signature is already expired');
}

/** Whether this token signed the address. */
export function isSignedBy(query: FileQuery, operation: FileOperation, token: string): boolean {
  const [given, right] = [query.signature ?? '', signatureOf(query, operation, token)].map((text) =>
    Buffer.from(text),
  );
  return (
    given !== undefined &&
    right !== undefined &&
    given.length === right.length &&
    timingSafeEqual(given, right)
  );
}

/** In their form; anything else needs no search for who signed it. */
export function looksSigned({ signature = '' }: FileQuery): boolean {
  return /^v1_[A-Za-z0-9+/]{43}$/.test(signature);
}

/** Uses the path as the client sent it, before anybody resolves it. */
function signatureOf(
  { path, username = '', signature_expiration: end }: FileQuery,
  operation: FileOperation,
  accessToken: string,
): string {
  const words = [path, operation, username, accessToken, ...(end === undefined ? [] : [end])];
  const digest = createHash('sha256').update(words.join(':')).digest('base64');
  return `v1_${digest.replace(/=+$/, '')}`;
}
