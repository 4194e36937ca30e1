/** The id of a request: its client's own, or a new one. Every answer carries it, and so do lines of the log. */
import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

export const requestIdHeader = 'x-request-id';

/** What every log and terminal shows as it is. */
const wellFormed = /^[\w.:+/=-]{1,128}$/;

/** Kept in the headers of the request, so that an application behind this one takes the same. */
export function requestIdOf({ headers }: Pick<IncomingMessage, 'headers'>): string {
  const given = headers[requestIdHeader];
  const id = typeof given === 'string' && wellFormed.test(given) ? given : randomUUID();
  headers[requestIdHeader] = id;
  return id;
}
