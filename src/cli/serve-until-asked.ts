/** Prints where a server is, and keeps it until somebody asks it to end. */
import type { ListenAddress } from '../base/http/http-options.js';
import { showAddress } from '../base/http/listen.js';
import type { Interrupts } from './interrupts.js';

export interface Serving {
  readonly server: { readonly address: ListenAddress; close(): Promise<void> };
  /** What clients need to know besides the address, such as `token: …`. */
  readonly secret?: string | undefined;
  /** Follows the address. */
  readonly path?: string | undefined;
  /** The path of the page that people open, where the server has one. */
  readonly page?: string | undefined;
  /** Work that is not ready yet; the server ends when it fails. */
  readonly ready?: Promise<unknown> | undefined;
}

export async function serveUntilAsked(
  { server, secret, path = '', page, ready }: Serving,
  interrupts: Interrupts,
): Promise<void> {
  try {
    if (secret !== undefined) process.stdout.write(`${secret}\n`);
    if (page !== undefined && 'port' in server.address)
      process.stdout.write(`console: ${showAddress(server.address)}${page}\n`);
    process.stdout.write(`listening on ${showAddress(server.address)}${path}\n`);
    const ended = aborted(interrupts.signal);
    await Promise.race([ended, ready]);
    await ended;
  } finally {
    await server.close();
  }
  const exitCode = interrupts.exitCode();
  // A request to end is how a server ends.
  process.exitCode = exitCode === 143 ? 0 : exitCode;
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
