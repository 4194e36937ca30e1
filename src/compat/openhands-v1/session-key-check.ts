/** The session keys that a request or a socket may carry. */
import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';

export const keyHeader = 'x-session-api-key';

export interface SessionKeys {
  accepts(key: unknown): boolean;
  acceptsHeaders(headers: IncomingHttpHeaders): boolean;
}

/** Several keys can be valid at once, so that you can replace them one after the other. */
export function createSessionKeys(keys: readonly string[]): SessionKeys {
  const expected = keys.map(digest);
  const accepts = (key: unknown): boolean => {
    if (typeof key !== 'string') return false;
    const given = digest(key);
    // Compare all of them, so that the time does not reveal which one is near.
    return expected.filter((one) => timingSafeEqual(one, given)).length > 0;
  };
  return { accepts, acceptsHeaders: (headers) => accepts(headers[keyHeader]) };
}

function digest(key: string): Buffer {
  return createHash('sha256').update(key).digest();
}
