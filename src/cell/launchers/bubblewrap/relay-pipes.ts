/** Bubblewrap, started beside this process, and the two named pipes that join its relay and this side. */
import { closeSync, constants, openSync, writeFileSync } from 'node:fs';
import { Socket } from 'node:net';
import { join } from 'node:path';
import { quote } from '../../../base/shell-quote.js';
import { makeFifo } from '../fifo.js';
import type { Referenced } from '../pty.js';
import { makeFleeting, removeFile } from '../scratch.js';
import { startBeside, waitBeside } from '../spawner.js';
import { reportsFile, requestsFile } from './layout.js';

/** Descriptors that bubblewrap finds open. Its output and errors, and then the reports of the relay, are one stream. */
export const descriptors = { seccomp: 3, info: 1 } as const;

export interface Wire extends Referenced {
  /** Bubblewrap, as this side numbers it. */
  readonly pid: Promise<number>;
  /**
   * Settles with how bubblewrap ended, when it and everything that could write here have ended; fails if it never
   * started.
   */
  readonly ended: Promise<string>;
  send(text: string): void;
  /** Call it when the relay has its ends; nothing else can open them by name then. */
  settle(): void;
}

let scripts: string | undefined;
let count = 0;

export async function startWired(
  argv: readonly string[],
  { control, filter }: { control: string; filter: string },
  onData: (chunk: Buffer) => void,
): Promise<Wire> {
  const [input, output] = [join(control, requestsFile), join(control, reportsFile)];
  await Promise.all([makeFifo(input), makeFifo(output)]);
  const { O_RDONLY, O_WRONLY, O_RDWR, O_NONBLOCK } = constants;
  // Open it for reading, too, so that opening does not wait for the relay. The relay sees the end when this process
  // ends.
  const requests = new Socket({
    fd: openSync(input, O_RDWR | O_NONBLOCK),
    readable: false,
    writable: true,
  }).unref();
  const stream = new Socket({ fd: openSync(output, O_RDONLY | O_NONBLOCK), readable: true, writable: false });
  // What goes wrong with them shows by their end.
  for (const end of [requests, stream]) end.on('error', () => {});
  // Without a writer it would look as if it had ended.
  const writer = openSync(output, O_WRONLY | O_NONBLOCK);
  scripts ??= makeFleeting('scripts');
  const script = join(scripts, String(count++));
  const redirections = `</dev/null >${quote(output)} 2>&1 ${descriptors.seccomp}<${quote(filter)}`;
  writeFileSync(script, `exec ${redirections} && exec -c ${argv.map(quote).join(' ')}\n`, {
    mode: 0o600,
    flag: 'wx',
  });
  const pid = startBeside(script);

  function connected() {
    closeSync(writer);
    removeFile(script);
  }
  stream.once('data', connected);
  stream.on('data', onData);
  const ended = new Promise<string>((resolve, reject) => {
    stream.once('close', () => {
      requests.destroy();
      // The process has closed its files and ends in the next moment.
      pid.then(waitBeside).then((code) => resolve(`exit code ${code}`), reject);
    });
  });
  pid.catch(() => {
    connected();
    stream.destroy();
  });
  return {
    pid,
    ended,
    send: (text) => void requests.write(text),
    settle() {
      for (const path of [input, output]) removeFile(path);
    },
    ref: () => void stream.ref(),
    unref: () => void stream.unref(),
  };
}
