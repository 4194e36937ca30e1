/** Reads the output of an owner's command, and ends the command in a way that it cannot delay. */
import { spawn } from 'node:child_process';
import { hostEnvironment } from '../base/find-program.js';

const graceMs = 1000;

export interface CommandLimits {
  readonly limitMs: number;
  readonly maxBytes: number;
  readonly signal?: AbortSignal | undefined;
}

export type Printed = { readonly text: string } | { readonly failed: string } | 'cancelled';

/** Runs it in its own process group, and ends that group when it takes too long or the caller cancels. */
export function printedBy(
  program: string,
  args: readonly string[],
  { limitMs, maxBytes, signal }: CommandLimits,
): Promise<Printed> {
  if (signal?.aborted) return Promise.resolve('cancelled');
  return new Promise((resolve) => {
    const child = spawn(program, args, {
      cwd: '/',
      env: hostEnvironment(),
      detached: true,
      stdio: ['ignore', 'pipe', 'ignore'],
      windowsHide: true,
    });
    const pieces: Buffer[] = [];
    let length = 0;
    let stopped: Printed | undefined;
    let grace: NodeJS.Timeout | undefined;
    const stop = (why: Printed) => {
      if (stopped !== undefined) return;
      stopped = why;
      signalGroup(child.pid, 'SIGTERM');
      grace = setTimeout(() => {
        signalGroup(child.pid, 'SIGKILL');
        // A process that left the group may hold it open.
        child.stdout.destroy();
      }, graceMs);
    };
    const onAbort = () => stop('cancelled');
    const limit = setTimeout(() => stop({ failed: `did not end within ${limitMs / 1000} seconds` }), limitMs);
    const settle = (printed: Printed) => {
      clearTimeout(limit);
      clearTimeout(grace);
      signal?.removeEventListener('abort', onAbort);
      // End what it left in its group, too.
      if (stopped !== undefined) signalGroup(child.pid, 'SIGKILL');
      resolve(stopped ?? printed);
    };
    signal?.addEventListener('abort', onAbort, { once: true });
    child.stdout.on('data', (piece: Buffer) => {
      length += piece.length;
      if (length > maxBytes) stop({ failed: `printed more than ${maxBytes} bytes` });
      else pieces.push(piece);
    });
    child.once('error', ({ message }) => settle({ failed: `failed (${message})` }));
    child.once('close', (code, by) =>
      settle(
        code === 0 ? { text: Buffer.concat(pieces).toString('utf8') } : { failed: `failed (${code ?? by})` },
      ),
    );
  });
}

function signalGroup(pid: number | undefined, signal: NodeJS.Signals): void {
  try {
    if (pid !== undefined) process.kill(-pid, signal);
  } catch {
    // Everything in it has ended.
  }
}
