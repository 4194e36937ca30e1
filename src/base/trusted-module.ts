/** Loads modules of the trusted side only from places where no other user can have put them. */
import { fileURLToPath } from 'node:url';
import { reachTrusted } from './trusted-path.js';

/** Throws `UntrustedPathError` for a file that another user can change. */
export function checkTrustedModule(address: string): void {
  if (address.startsWith('file:')) reachTrusted(fileURLToPath(address))[Symbol.dispose]();
}
