/** Bubblewrap, started beside this process, with what joins its first process and this side: two named pipes. */
import { closeSync, constants, openSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { makeFifo } from '../fifo.js';
import type { Referenced } from '../pty.js';
import { makeFleeting } from '../scratch.js';
import { quote } from '../shell-word.js';
import { startBeside, waitBeside } from '../spawner.js';
import { filterFile } from './filter.js';
import { openPipe } from './pipes.js';

/** Descriptors that bubblewrap finds open: its output and errors come here as one stream. */
export const descriptors = { seccomp: 3, info: 1 } as const;

export interface Wire extends Referenced {
  /** Bubblewrap, as this side numbers it. */
  readonly pid: Promise<number>;
  /** Settles with how bubblewrap ended, when it and all that could write here are gone; fails if it never started. */
  readonly ended: Promise<string>;
  send(line: string): void;
}

let directory: string | undefined;
let count = 0;

export async function startWired(argv: readonly string[], onData: (chunk: Buffer) => void): Promise<Wire> {
  directory ??= makeFleeting('wires');
  const name = join(directory, String(count++));
  const input = `${name}.in`;
  const [output] = await Promise.all([openPipe(directory, `${count - 1}.out`, 'out'), makeFifo(input)]);
  // Open for reading too, so that it can be opened before bubblewrap has; that one sees its end when this process goes.
  const requests = openSync(input, constants.O_RDWR | constants.O_NONBLOCK);
  const script = `${name}.sh`;
  const words = argv.map(quote).join(' ');
  writeFileSync(
    script,
    `exec <${quote(input)} >${quote(output.path)} 2>&1 ${descriptors.seccomp}<${quote(filterFile())} && exec -c ${words}\n`,
    { mode: 0o600, flag: 'wx' },
  );
  const pid = startBeside(script);
  const { stream } = output;

  function connected() {
    output.settle();
    for (const path of [input, script]) rmSync(path, { force: true });
  }
  stream.once('data', connected);
  stream.on('data', onData);
  const ended = new Promise<string>((resolve, reject) => {
    stream.once('close', () => {
      closeSync(requests);
      // Its files are closed; the process itself goes in the next moment.
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
    send: (line) => void writeSync(requests, `${line}\n`),
    ref: () => void stream.ref(),
    unref: () => void stream.unref(),
  };
}
