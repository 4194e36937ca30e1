/** A named shell session: one command at a time, in a shell that the session replaces when it dies. */

import { quote } from '../../../base/shell-quote.js';
import {
  type Action,
  type EndedBy,
  type ExecuteContext,
  type Observation,
  WorkcellError,
} from '../../../protocol/index.js';
import type { ExitStatus, Launcher } from '../../launchers/launcher.js';
import type { Environment } from '../cell-environment.js';
import type { Tree } from '../files/file-tree.js';
import type { Output, OutputStore } from '../output/output-store.js';
import type { Spool } from '../output/spool.js';
import { exportStatements, scopeOf } from './command-scope.js';
import type { Report } from './driver.js';
import { toKeystrokes } from './keystrokes.js';
import { Listener, type Source } from './listener.js';
import { type Shell, type ShellEvents, shellSize, startShell } from './persistent-bash.js';
import { ProcessTree } from './process-tree.js';
import { currentScreen, type Excerpt, excerpt } from './shell-excerpt.js';
import type { SpareShell } from './spare.js';

/** How much a background program can print between two commands before we drop the oldest of it. */
const idleBytes = 65_536;
/** In how many pieces it may lie. */
const idlePieces = 256;
/** Undoes raw mode, which a program left behind: without it Ctrl-C and line ends would not work. */
const restoreTerminal = '\\command stty sane </dev/tty 2>/dev/null;';
/** How much you can type ahead of a program that does not read. */
const mostUntaken = 65_536;
/** How much earlier output a new listener gets at once. */
const caughtUpBytes = 1024 * 1024;
/** How long a command may take to stop before we kill it, and then the shell. */
const graceMs = 100;

export interface SessionParts {
  readonly launcher: Launcher;
  readonly environment: Environment;
  readonly outputs: OutputStore;
  readonly tree: Tree;
  /** Started with the variables that the cell began with. */
  readonly spare?: SpareShell | undefined;
}

interface Running {
  readonly command: string;
  readonly output: Output;
  readonly spool: Spool;
  readonly startedAt: number;
  readonly oomKills: number;
  /** How much of the output earlier observations have shown. */
  shown: number;
  /** Why this side ends it. */
  endedBy: EndedBy | undefined;
  /** The command is over, and the shell is settling. */
  settling: boolean;
  end: { exitCode: number | null; signal: string | null; endedBy: EndedBy; durationMs: number } | undefined;
  waiter: { onOutput(chunk: Buffer, position: number): void; onEnd(): void } | undefined;
}

export class Session {
  readonly name: string;
  cwd: string;
  readonly #parts: SessionParts;
  readonly #tree: ProcessTree;
  /** The terminal of the current shell, whichever that is. */
  readonly #source: Source = {
    pause: () => this.#shell?.pty.pause(),
    resume: () => this.#shell?.pty.resume(),
  };
  #shell: Shell | undefined;
  #starting = false;
  #closed = false;
  #fresh = false;
  #running: Running | undefined;
  #environmentVersion = 0;
  #idle: Buffer[] = [];
  #rawTerminal = false;
  #size = shellSize;
  /** How many typed characters the terminal has not taken. */
  #untaken = 0;
  #sinceForgotten = 0;
  #notice: string | undefined;
  /** How the previous shell ended. */
  #lastEnd: string | undefined;

  constructor(name: string, parts: SessionParts) {
    this.name = name;
    this.#parts = parts;
    this.cwd = parts.launcher.files.workspace;
    this.#tree = new ProcessTree(parts.launcher);
  }

  get pid(): number | undefined {
    return this.#shell?.pid;
  }

  /** The command that still runs, or that ended without any caller seeing its end. */
  get current(): string | null {
    return this.#running?.end === undefined ? (this.#running?.command ?? null) : null;
  }

  async run(action: Action<'run'>, context: ExecuteContext): Promise<Observation<'run'>> {
    if (action.input || action.command.trim() === '') return this.#continue(action, context);
    if (this.#starting || (this.#running !== undefined && this.#running.end === undefined))
      throw this.#busy();
    this.#starting = true;
    try {
      await this.#start(action);
    } finally {
      this.#starting = false;
    }
    return this.#wait(this.#running as unknown as Running, action, context);
  }

  /** Ends the shell and all that runs on its terminal. */
  async close(): Promise<void> {
    this.#closed = true;
    const shell = this.#shell;
    if (shell === undefined) return;
    await Promise.all([this.#tree.killAll(shell.pid), shell.pty.exited]);
    shell.close();
  }

  async #start(action: Action<'run'>): Promise<void> {
    const { outputs, launcher } = this.#parts;
    const scope = scopeOf(action, this.#parts.tree);
    if (this.#running?.end !== undefined) {
      const { command, end, output } = this.#running;
      this.#notice = `The command before, ${JSON.stringify(command)}, ended meanwhile with exit code ${end.exitCode}; its output is kept under output id ${output.id}.`;
    }
    if (this.#shell === undefined) {
      this.#shell = await this.#startUnlessClosed();
      if (this.#lastEnd !== undefined) {
        this.#notice = `The shell before ${this.#lastEnd}: this command ran in a fresh one, without its variables, functions and options.`;
      }
    }
    this.#resize(action.size);
    const output = outputs.create(['terminal']);
    const running: Running = {
      command: action.command,
      output,
      spool: output.streams.terminal as Spool,
      startedAt: performance.now(),
      oomKills: launcher.oomKills?.() ?? 0,
      shown: 0,
      endedBy: undefined,
      settling: false,
      end: undefined,
      waiter: undefined,
    };
    this.#running = running;
    if (this.#idle.length > 0) running.spool.append(Buffer.concat(this.#idle.splice(0)).subarray(-idleBytes));
    this.#tree.commandStarts();
    const preparation = `${this.#rawTerminal ? restoreTerminal : ''}${this.#forgetJobs(action.command)}${this.#return()}${this.#environmentChanges()}${scope.before}`;
    this.#shell.send({ source: action.command, before: preparation, after: scope.after });
  }

  /** A fresh shell begins with the usual size. */
  #resize(asked: Action<'run'>['size']): void {
    const next = asked ?? this.#size;
    if (this.#fresh ? next !== shellSize : asked !== undefined)
      this.#shell?.pty.resize(next.columns, next.rows);
    this.#size = next;
  }

  /** When closing the session ends its shell, that is no failure of the shell. */
  async #startUnlessClosed(): Promise<Shell> {
    const shell = await this.#startShell().catch((cause: unknown) => {
      throw this.#closed ? closedMeanwhile(cause) : cause;
    });
    if (!this.#closed) return shell;
    await this.#tree.killAll(shell.pid);
    shell.close();
    throw closedMeanwhile();
  }

  async #startShell(): Promise<Shell> {
    const { launcher, environment, spare } = this.#parts;
    const events: ShellEvents = {
      onOutput: (chunk) => this.#onOutput(chunk),
      onReport: (report) => this.#onReport(report),
      onLeave: (cwd) => {
        this.cwd = cwd;
      },
      onExit: (status) => this.#onExit(status),
    };
    this.#fresh = true;
    this.#environmentVersion = 0;
    const ready = await spare?.take(events);
    if (ready !== undefined) return ready;
    this.#environmentVersion = environment.version;
    return startShell(
      launcher,
      { cwd: launcher.files.workspace, env: environment.all(), size: shellSize },
      events,
    );
  }

  async #continue(action: Action<'run'>, context: ExecuteContext): Promise<Observation<'run'>> {
    const running = this.#running;
    if (running === undefined) {
      throw new WorkcellError(
        'session-not-running',
        `Session "${this.name}" runs no command that could ${action.input ? 'take input' : 'have printed more'}. Start one with a command.`,
        { details: { session: this.name } },
      );
    }
    if (action.input && running.end === undefined) this.#type(toKeystrokes(action.command));
    if (running.waiter !== undefined) return this.#peek(running, action);
    if (!action.input && !hasLimit(action)) return this.#observe(running, action, running.end === undefined);
    return this.#wait(running, action, context);
  }

  /** Another caller waits for the command and gets its output, so nothing counts as shown. */
  async #peek(running: Running, action: Action<'run'>): Promise<Observation<'run'>> {
    const { spool, output, shown } = running;
    const printed = action.input
      ? { text: '', truncated: false }
      : await this.#visible(spool, shown, action, output.id, true);
    return this.#describe(running, action, printed, true);
  }

  #type(keystrokes: string): void {
    if (this.#untaken > mostUntaken) {
      throw new WorkcellError(
        'invalid-action',
        `The program in session "${this.name}" has not read ${this.#untaken} characters of earlier input. Wait until it does, or end it.`,
        { details: { session: this.name } },
      );
    }
    this.#untaken += keystrokes.length;
    void this.#shell?.pty.write(keystrokes).then(() => {
      this.#untaken -= keystrokes.length;
    });
  }

  /** Waits for the end of the running command, or for the first of the caller's limits. */
  async #wait(running: Running, action: Action<'run'>, context: ExecuteContext): Promise<Observation<'run'>> {
    const { signal, onProgress } = context;
    const { timeoutMs, noChangeTimeoutMs, handBackMs, outputLimitBytes } = action;
    const timers = new Set<NodeJS.Timeout>();
    let handedBack = false;
    let lastOutputAt = performance.now();
    const listener = onProgress && new Listener(onProgress, this.#source);
    if (running.shown < running.spool.totalBytes) {
      // Earlier output stays readable under the output's id.
      const start = Math.max(running.shown, running.spool.totalBytes - caughtUpBytes);
      const { data, from } = running.spool.read(start, caughtUpBytes);
      listener?.push(data, from);
    }

    await new Promise<void>((resolve) => {
      if (running.end !== undefined) return resolve();
      const end = (reason: EndedBy) => this.#end(running, reason);
      const onAbort = () => end('cancelled');
      const handBack = () => {
        handedBack = running.end === undefined && running.endedBy === undefined;
        if (handedBack) resolve();
      };
      running.waiter = {
        onOutput: (chunk, position) => {
          lastOutputAt = performance.now();
          listener?.push(chunk, position);
          if (outputLimitBytes !== undefined && running.spool.totalBytes > outputLimitBytes)
            end('output-limit');
        },
        onEnd: resolve,
      };
      if (timeoutMs !== undefined) timers.add(setTimeout(() => end('timeout'), timeoutMs));
      if (handBackMs !== undefined) timers.add(setTimeout(handBack, handBackMs));
      if (noChangeTimeoutMs !== undefined) {
        const check = () => {
          const quietMs = performance.now() - lastOutputAt;
          if (quietMs < noChangeTimeoutMs - 1) {
            timers.add(setTimeout(check, noChangeTimeoutMs - quietMs));
          } else {
            handBack();
          }
        };
        timers.add(setTimeout(check, noChangeTimeoutMs));
      }
      signal?.addEventListener('abort', onAbort, { once: true });
      if (signal?.aborted) onAbort();
    }).finally(() => {
      running.waiter = undefined;
      for (const timer of timers) clearTimeout(timer);
    });
    await listener?.drained();
    return this.#observe(running, action, handedBack);
  }

  async #observe(running: Running, action: Action<'run'>, handedBack: boolean): Promise<Observation<'run'>> {
    const { spool, output, end } = running;
    if (!handedBack && this.#running === running) this.#running = undefined;
    const shown = running.shown;
    running.shown = spool.totalBytes;
    const { text, truncated } = await this.#visible(spool, shown, action, output.id, handedBack);
    // The shell ends the line at an interrupt; the command did not print that line end.
    const visible =
      end !== undefined && running.endedBy !== undefined ? text.replace(/(^|\n)\n$/, '$1') : text;
    const notice = this.#notice;
    this.#notice = undefined;
    return {
      ...this.#describe(running, action, { text: visible, truncated }, handedBack),
      ...(notice !== undefined && { notice }),
    };
  }

  /** The output from that position on, or the screen that a full-screen program shows now. */
  async #visible(
    spool: Spool,
    from: number,
    { maxOutputBytes }: Action<'run'>,
    outputId: string,
    isAlive: boolean,
  ): Promise<Excerpt> {
    const screen = isAlive ? await currentScreen(spool, this.#size) : undefined;
    if (screen !== undefined) return { text: screen, truncated: false };
    return excerpt(spool, from, maxOutputBytes, this.#size, outputId);
  }

  #describe(
    running: Running,
    action: Action<'run'>,
    { text, truncated }: Excerpt,
    handedBack: boolean,
  ): Observation<'run'> {
    const { output, end } = running;
    const pid = this.#shell?.pid;
    return {
      observation: 'run',
      command: action.command,
      output: text,
      exitCode: end?.exitCode ?? null,
      signal: end?.signal ?? null,
      endedBy: end?.endedBy ?? 'no-change',
      cwd: this.cwd,
      durationMs: end?.durationMs ?? performance.now() - running.startedAt,
      session: this.name,
      truncated,
      ...((truncated || handedBack) && { outputId: output.id }),
      ...(pid !== undefined && { pid }),
    };
  }

  #onOutput(chunk: Buffer): void {
    const running = this.#running;
    if (running === undefined || running.end !== undefined) {
      this.#idle.push(chunk);
      // A program can print byte by byte, so there can be as many pieces as bytes.
      if (this.#idle.length > idlePieces || chunk.length > 4096)
        this.#idle = [Buffer.concat(this.#idle).subarray(-idleBytes)];
      return;
    }
    if (running.settling) return;
    const position = running.spool.totalBytes;
    running.spool.append(chunk);
    running.waiter?.onOutput(chunk, position);
  }

  #onReport(report: Report): void {
    this.cwd = report.cwd;
    this.#rawTerminal = report.rawTerminal;
    const running = this.#running;
    if (this.#closed) return;
    if (running === undefined || running.end !== undefined) {
      // An interrupt came when nothing ran; the shell ended the line and reported once again.
      if (/^(\^C)?\r?\n$/.test(this.#idle.at(-1)?.toString('latin1') ?? '')) this.#idle.pop();
      return;
    }
    const shell = this.#shell as Shell;
    if (running.endedBy !== undefined && !running.settling) {
      // An interrupt may still be on its way to the shell; after an empty command it has arrived.
      running.settling = true;
      void this.#tree.killStarted(shell.pid).then(() => {
        if (this.#shell === shell) shell.send({ source: ':', before: '', after: '' });
      });
      return;
    }
    this.#tree.commandEnded(shell.pid, report.backgroundPid);
    this.#finish(running, { exitCode: report.exitCode, signal: null });
  }

  #onExit(status: ExitStatus): void {
    this.#shell = undefined;
    if (this.#closed) {
      if (this.#running !== undefined && this.#running.end === undefined)
        this.#finish(this.#running, status, 'cancelled');
      return;
    }
    const how =
      status.signal === null ? `ended with exit code ${status.exitCode}` : `was killed by ${status.signal}`;
    const running = this.#running;
    if (running !== undefined && running.end === undefined) {
      this.#finish(running, status, status.signal === null ? 'exit' : 'killed');
    }
    this.#lastEnd = how;
  }

  #finish(running: Running, status: ExitStatus, natural: EndedBy = 'exit'): void {
    const { launcher } = this.#parts;
    const killed = status.exitCode === 137 || status.signal === 'SIGKILL';
    const oom = killed && (launcher.oomKills?.() ?? 0) > running.oomKills;
    const endedBy = running.endedBy ?? (oom ? 'oom' : natural);
    const hasStatus = running.endedBy === undefined;
    running.end = {
      exitCode: hasStatus ? status.exitCode : null,
      signal: hasStatus ? status.signal : null,
      endedBy,
      durationMs: performance.now() - running.startedAt,
    };
    running.output.complete = true;
    running.waiter?.onEnd();
  }

  /** Ends the running command and all it started: by interrupt first, so that the shell itself stays. */
  #end(running: Running, reason: EndedBy): void {
    const shell = this.#shell;
    if (running.end !== undefined || running.endedBy !== undefined || shell === undefined) return;
    running.endedBy = reason;
    const frozen = this.#parts.launcher.frozen?.();
    // A stopped process cannot react to an interrupt: it gets its time when the cell resumes.
    if (frozen === undefined) this.#interrupt(running, shell.pid);
    else void frozen.then(() => this.#interrupt(running, shell.pid));
  }

  #interrupt(running: Running, shellPid: number): void {
    this.#tree.interrupt(shellPid);
    const isStuck = () => running.end === undefined && !running.settling;
    const escalate = setTimeout(async () => {
      if (!isStuck()) return;
      await this.#tree.killStarted(shellPid);
      if (!isStuck()) return;
      this.#tree.interrupt(shellPid);
      const giveUp = setTimeout(() => {
        // Also kills what the shell itself kept starting.
        if (isStuck()) void this.#tree.killAll(shellPid);
      }, graceMs);
      giveUp.unref();
    }, graceMs);
    escalate.unref();
  }

  /**
   * Drops ended jobs from the shell's table, as it does itself before it shows a prompt: now and then, and before
   * whatever may look at them.
   */
  #forgetJobs(command: string): string {
    this.#sinceForgotten++;
    if (this.#sinceForgotten < 100 && !/%|jobs|fg|bg|wait|disown/.test(command)) return '';
    this.#sinceForgotten = 0;
    return '\\builtin jobs -n >/dev/null;';
  }

  /** Takes a fresh shell to the directory of the previous one, if that still exists. */
  #return(): string {
    const atHome = !this.#fresh || this.cwd === this.#parts.launcher.files.workspace;
    this.#fresh = false;
    return atHome ? '' : `\\builtin cd -- ${quote(this.cwd)} 2>/dev/null;`;
  }

  /** Brings the shell's variables up to date with all changes since its last command. */
  #environmentChanges(): string {
    const { environment } = this.#parts;
    if (environment.version === this.#environmentVersion) return '';
    const changes = environment.since(this.#environmentVersion);
    this.#environmentVersion = environment.version;
    return exportStatements(changes);
  }

  #busy(): WorkcellError {
    return new WorkcellError(
      'session-busy',
      `Session "${this.name}" still runs ${JSON.stringify(this.#running?.command ?? 'a command')}. Send an empty command to see what it printed so far (with handBackMs: wait that long for its end), input: true to talk to it, "C-c" as input to stop it, or use another session.`,
      { details: { session: this.name, command: this.#running?.command } },
    );
  }
}

/** Whether the caller says how long to wait. */
function hasLimit({ timeoutMs, noChangeTimeoutMs, handBackMs }: Action<'run'>): boolean {
  return timeoutMs !== undefined || noChangeTimeoutMs !== undefined || handBackMs !== undefined;
}

function closedMeanwhile(cause?: unknown): WorkcellError {
  return new WorkcellError('runtime-closed', 'The cell was closed while a shell started; start a new one.', {
    cause,
  });
}
