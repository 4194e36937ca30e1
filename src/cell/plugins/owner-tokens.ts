/** Tokens by which an owner's own programs are let in to what a plugin runs. Only their hashes leave the owner. */
import { createHash, randomBytes } from 'node:crypto';

/** How many callers can have a token each; the oldest is forgotten. */
const mostTokens = 64;

/** The token stays with the one who makes it: nothing that is recorded or sent holds it. */
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

  /** What is compared is a hash, so the time it takes tells nothing about a token. */
  has(token: string): boolean {
    return this.#hashes.has(hashOf(token));
  }
}

function hashOf(token: string): string {
  return createHash('sha256').update(token).digest('hex');
}
