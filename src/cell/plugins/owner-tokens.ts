/** Tokens that let an owner's own programs use what a plugin runs. Only their hashes leave the owner. */
import { createHash, randomBytes } from 'node:crypto';

/** How many callers can have a token each; a new one replaces the oldest. */
const mostTokens = 64;

/** The caller keeps the token: nothing that we record or send holds it. */
export function makeOwnerToken(): { readonly token: string; readonly tokenHash: string } {
  const token = randomBytes(32).toString('hex');
  return { token, tokenHash: hashOf(token) };
}

/** The hashes of the tokens that a proxy accepts. */
export class OwnerTokens {
  readonly #hashes = new Set<string>();

  add(hash: string): void {
    this.#hashes.delete(hash);
    this.#hashes.add(hash);
    const [oldest] = this.#hashes;
    if (this.#hashes.size > mostTokens && oldest !== undefined) this.#hashes.delete(oldest);
  }

  /** Compares hashes, so that the time reveals nothing about a token. */
  has(token: string): boolean {
    return this.#hashes.has(hashOf(token));
  }
}

function hashOf(token: string): string {
  return createHash('sha256').update(token).digest('hex');
}
