/** One bash on a terminal: takes commands, passes their output on, and tells when each one ends. */
import { randomBytes } from 'node:crypto';
import { closeSync, constants, openSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { makeFifo } from '../../launchers/fifo.js';
import type { ExitStatus, LaunchedPty, Launcher } from '../../launchers/launcher.js';
import { removeFile } from '../../launchers/scratch.js';
import { type Command, commandRecord, driverSource, findReport, type Report } from './driver.js';
import type { ScreenSize } from './render.js';

export interface ShellEvents {
  onOutput(chunk: Buffer): void;
  /** The command that was sent last has ended. */
  onReport(report: Report): void;
  /** The shell is about to exit, in this directory. */
  onLeave(cwd: string): void;
  /** The shell is gone. */
  onExit(status: ExitStatus): void;
}

export interface Shell {
  readonly pid: number;
  readonly pty: LaunchedPty;
  send(command: Command): void;
  /** Ends the terminal and removes what the shell used. */
  close(): void;
}

/** The terminal of every shell. */
export const shellSize: ScreenSize = { columns: 200, rows: 50 };

/** Starts a shell; settles when it waits for its first command. */
export async function startShell(
  launcher: Pick<Launcher, 'exchange' | 'openPty'>,
  options: { cwd: string; env: Readonly<Record<string, string>>; size: ScreenSize },
  events: ShellEvents,
): Promise<Shell> {
  const name = randomBytes(8).toString('hex');
  const inside = (file: string) => `${launcher.exchange.inside}/${name}${file}`;
  const outside = (file: string) => join(launcher.exchange.outside, `${name}${file}`);
  await makeFifo(outside('.pipe'));
  const pipe = openSync(outside('.pipe'), constants.O_RDWR | constants.O_NONBLOCK);
  let closed = false;
  let pty: LaunchedPty;

  function release() {
    if (closed) return;
    closed = true;
    closeSync(pipe);
    for (const file of ['.pipe', '.rc', '.command']) removeFile(outside(file));
  }

  try {
    writeFileSync(outside('.rc'), driverSource(name, inside('.pipe'), inside('.command')), { mode: 0o600 });
    pty = await launcher.openPty(['bash', '--noprofile', '--noediting', '--rcfile', inside('.rc'), '-i'], {
      ...options,
      columns: options.size.columns,
      rows: options.size.rows,
    });
  } catch (error) {
    release();
    throw error;
  }

  let sent = 0;
  let lastRecord: string | undefined;
  let held: Buffer | undefined;
  let returning = false;
  let onFirstReport: (() => void) | undefined;

  function receive(chunk: Buffer) {
    let data = held === undefined ? chunk : Buffer.concat([held, chunk]);
    held = undefined;
    while (data.length > 0) {
      const found = findReport(data, name);
      if (found.kind === 'none') {
        if (found.safe > 0) output(data.subarray(0, found.safe));
        if (found.safe < data.length) held = data.subarray(found.safe);
        return;
      }
      if (found.start > 0) output(data.subarray(0, found.start));
      data = data.subarray(found.end);
      if (found.kind === 'left') comeBack();
      else if (found.kind === 'exit') events.onLeave(found.cwd);
      else handleReport(found.report);
    }
  }

  function output(chunk: Buffer) {
    if (!returning) events.onOutput(chunk);
  }

  /** An empty line makes bash show its prompt again, and so enter the loop; what the terminal echoes is not output. */
  function comeBack() {
    returning = true;
    void pty.write('\n');
  }

  function handleReport(report: Report) {
    returning = false;
    const number = Number(report.command.slice(report.command.lastIndexOf('.') + 1));
    if (onFirstReport !== undefined) {
      onFirstReport();
      onFirstReport = undefined;
    } else if (number === sent) {
      lastRecord = undefined;
      events.onReport(report);
    } else if (lastRecord !== undefined) {
      // An interrupt hit the shell while it was reading; the NUL ends what it may have read of the first copy.
      writeSync(pipe, `\0${lastRecord}`);
    }
  }

  const shell: Shell = {
    get pid() {
      return pty.pid;
    },
    get pty() {
      return pty;
    },
    send(command) {
      const { record, file } = commandRecord(name, sent + 1, command);
      if (file !== undefined) writeFileSync(outside('.command'), file, { mode: 0o600 });
      sent++;
      lastRecord = record;
      writeSync(pipe, record);
    },
    close() {
      pty.close();
      release();
    },
  };

  await new Promise<void>((resolve) => {
    onFirstReport = resolve;
    pty.onData(receive);
    void pty.exited.then((status) => {
      if (held !== undefined) events.onOutput(held);
      held = undefined;
      events.onExit(status);
      release();
      resolve();
    });
  });
  return shell;
}
