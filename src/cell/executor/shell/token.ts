import { randomFillSync } from 'node:crypto';

const tokenBytes = 12;

/** Asking for random bytes costs as much as for many times as many. */
const ahead = Buffer.alloc(tokenBytes * 256);
let next = ahead.length;

/** Nobody can guess it, and it is the only one of its kind. */
export function newToken(): string {
  if (next === ahead.length) {
    randomFillSync(ahead);
    next = 0;
  }
  const token = ahead.toString('base64url', next, next + tokenBytes);
  ahead.fill(0, next, next + tokenBytes);
  next += tokenBytes;
  return token;
}
