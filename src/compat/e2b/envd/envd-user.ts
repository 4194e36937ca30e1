import type { FastifyRequest } from 'fastify';
import { RpcError } from '../e2b-errors.js';

/** A cell has one user. Clients of E2B call it `user`; no other name gives more than that one has. */
const onlyUser = 'user';

export function checkUserOf({ headers }: FastifyRequest): void {
  const [, encoded] = /^basic +(\S+)$/i.exec(headers.authorization ?? '') ?? [];
  if (encoded === undefined) return;
  const [name = ''] = Buffer.from(encoded, 'base64').toString('utf8').split(':');
  if (name !== '') checkUser(name);
}

export function checkUser(name: string): void {
  if (name !== onlyUser)
    throw new RpcError(
      'unauthenticated',
      `invalid username: '${name}'; the sandbox has the user '${onlyUser}' only`,
    );
}
