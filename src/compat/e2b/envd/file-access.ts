/** Who may read or write files over plain HTTP: holders of the token, and of addresses that it signed. */
import { createHash } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import { E2bError } from '../e2b-errors.js';
import type { Sandbox } from '../e2b-sandbox.js';
import { isSame } from '../e2b-sandboxes.js';

export interface FileQuery {
  readonly path: string;
  readonly username?: string | undefined;
  readonly signature?: string | undefined;
  readonly signature_expiration?: string | undefined;
}

export type FileOperation = 'read' | 'write';

export function checkFileAccess(
  { headers }: FastifyRequest,
  { accessToken }: Sandbox,
  query: FileQuery,
  operation: FileOperation,
): void {
  if (accessToken === undefined) return;
  const given = headers['x-access-token'];
  if (given !== undefined) {
    if (isSame(given, accessToken)) return;
    throw new E2bError(401, 'access token present in header but does not match');
  }
  if (query.signature === undefined) throw new E2bError(401, 'missing signature query parameter');
  if (!isSigned(query, operation, accessToken)) throw new E2bError(401, 'invalid signature');
  const { signature_expiration: end } = query;
  if (end !== undefined && Number(end) < Date.now() / 1000)
    throw new E2bError(401, 'signature is already expired');
}

export function isSigned(query: FileQuery, operation: FileOperation, accessToken: string): boolean {
  return isSame(query.signature, signatureOf(query, operation, accessToken));
}

/** Anybody may ask, and the answer takes a look at all sandboxes. */
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

/** Whoever has a sandbox's own token may run programs in it. */
export function checkToken({ headers }: FastifyRequest, expected: string | undefined): void {
  if (expected === undefined || isSame(headers['x-access-token'], expected)) return;
  throw new E2bError(
    401,
    'unauthorized access, please provide a valid access token or method signing if supported',
  );
}
