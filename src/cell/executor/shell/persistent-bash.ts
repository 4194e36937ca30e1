/** One bash on a terminal: takes commands, passes their output on, and tells when each one ends. */
import { WorkcellError } from '../../../protocol/index.js';
import type { ExitStatus, LaunchedPty, Launcher } from '../../launchers/launcher.js';
import {
  type Command,
  commandMessage,
  copyMessage,
  driverVariables,
  findReport,
  type Report,
} from './driver.js';
import type { ScreenSize } from './render.js';
import { newToken } from './token.js';

export interface ShellEvents {
  onOutput(chunk: Buffer): void;
  /** The last command has ended. */
  onReport(report: Report): void;
  /** The shell is about to exit, in this directory. */
  onLeave(cwd: string): void;
  /** The shell has exited. */
  onExit(status: ExitStatus): void;
}

export interface Shell {
  readonly pid: number;
  readonly pty: LaunchedPty;
  send(command: Command): void;
  /** Ends the terminal and removes the shell's files. */
  close(): void;
}

/** The terminal of every shell. */
export const shellSize: ScreenSize = { columns: 200, rows: 50 };

/** Send this many copies of a command that seems lost; more losses are no accident. */
const mostCopies = 16;

/** Starts a shell; settles when it waits for its first command, and fails when it ended before. */
export async function startShell(
  launcher: Pick<Launcher, 'bash' | 'openPty'>,
  options: { cwd: string; env: Readonly<Record<string, string>>; size: ScreenSize },
  events: ShellEvents,
): Promise<Shell> {
  const pty = await launcher.openPty(
    [launcher.bash, '--noprofile', '--noediting', '--rcfile', '/dev/null', '-i'],
    {
      cwd: options.cwd,
      env: { ...options.env, ...driverVariables },
      columns: options.size.columns,
      rows: options.size.rows,
      channel: true,
    },
  );
  const { channel } = pty;
  if (channel === undefined) throw new Error('The launcher gave a shell no channel.');
  let sent = 0;
  let copies = 0;
  /** Tokens of the last command and the one before it. */
  let tokens: readonly string[] = [];
  /** The last command, until the shell reports its end. */
  let message: string | undefined;
  let held: Buffer | undefined;
  let returning = false;
  let onFirstReport: (() => void) | undefined;

  function receive(chunk: Buffer) {
    let data = held === undefined ? chunk : Buffer.concat([held, chunk]);
    held = undefined;
    while (data.length > 0) {
      const found = findReport(data, tokens);
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

  /**
   * An empty line makes bash show its prompt again, and so enter the loop. The terminal's echo of it is not output.
   */
  function comeBack() {
    returning = true;
    void pty.write('\n');
  }

  function handleReport(report: Report) {
    returning = false;
    if (report.token === tokens[0]) {
      message = undefined;
      if (onFirstReport === undefined) events.onReport(report);
      else onFirstReport();
      onFirstReport = undefined;
    } else if (message !== undefined && copies < mostCopies) {
      // An interrupt hit the shell while it was reading.
      copies++;
      channel?.write(copyMessage(message), 'latin1');
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
      const token = newToken();
      const [last = token] = tokens;
      tokens = [token, last];
      sent++;
      copies = 0;
      message = commandMessage(sent, token, command);
      channel.write(message, 'latin1');
    },
    close() {
      pty.close();
      channel.destroy();
    },
  };

  await new Promise<void>((resolve, reject) => {
    onFirstReport = resolve;
    pty.onData(receive);
    void pty.exited.then((status) => {
      if (held !== undefined) events.onOutput(held);
      held = undefined;
      events.onExit(status);
      channel.destroy();
      reject(endedEarly(status));
    });
    shell.send({ source: ':', before: '', after: '' });
  });
  return shell;
}

function endedEarly({ exitCode, signal }: ExitStatus): WorkcellError {
  const how = signal === null ? `with exit code ${exitCode}` : `by ${signal}`;
  return new WorkcellError(
    'spawn-failed',
    `The shell ended ${how} while it started. Run the command again.`,
    {
      details: { exitCode, signal },
    },
  );
}
