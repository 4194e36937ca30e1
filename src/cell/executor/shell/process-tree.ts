/** Which processes belong to the command that runs in a shell, and what it takes to end them. */
import { uptime } from 'node:os';
import { killAll } from '../../launchers/kill-tree.js';
import type { CellProcess, Launcher } from '../../launchers/launcher.js';
import { withDescendants } from '../../launchers/process-table.js';

const ticksPerSecond = 100;

/** A caller gets its answer within a second of its deadline, whatever its command does to avoid its end. */
const patienceMs = 700;

export class ProcessTree {
  readonly #launcher: Launcher;
  /** Children of the shell that an earlier command left in the background. */
  #spared = new Set<number>();
  #backgroundPid = 0;
  #startTicks = 0;
  #killing: Promise<void> | undefined;

  constructor(launcher: Launcher) {
    this.#launcher = launcher;
  }

  commandStarts(): void {
    this.#startTicks = bootTicks();
  }

  /** Remembers what the command leaves running. Only a shell with a new background process needs a look. */
  commandEnded(shellPid: number, backgroundPid: number): void {
    if (backgroundPid === this.#backgroundPid) return;
    this.#backgroundPid = backgroundPid;
    const children = this.#launcher.processes().filter((entry) => entry.parentPid === shellPid);
    this.#spared = new Set(children.map((entry) => entry.pid));
  }

  /** What Ctrl-C does: the foreground and the shell, which then abandons the rest of the command. */
  interrupt(shellPid: number): void {
    const processes = this.#launcher.processes();
    const shell = processes.find((entry) => entry.pid === shellPid);
    const foreground = processes
      .filter((entry) => entry.groupId === shell?.foregroundGroupId)
      .map((entry) => entry.pid);
    this.#launcher.signal([...new Set([...foreground, shellPid])], 'SIGINT');
  }

  /** Kills everything that the command started, also processes that left the terminal or their parent. */
  killStarted(shellPid: number): Promise<void> {
    // One kill at a time: a second one could outlive the command and kill what the next command starts.
    this.#killing ??= this.#kill((processes) => this.#startedBy(processes, shellPid)).finally(() => {
      this.#killing = undefined;
    });
    return this.#killing;
  }

  /** Kills everything that stems from the shell, the shell first, so that it takes no further step. */
  killAll(shellPid: number): Promise<void> {
    return this.#kill((processes) => withDescendants(processes, [shellPid]));
  }

  #startedBy(processes: readonly CellProcess[], shellPid: number): CellProcess[] {
    const roots = processes.filter(
      (entry) =>
        entry.parentPid === shellPid && entry.startTicks >= this.#startTicks && !this.#spared.has(entry.pid),
    );
    return withDescendants(
      processes,
      roots.map((entry) => entry.pid),
    );
  }

  /** Kills at once. Settles when all processes have ended, or when the caller has waited long enough. */
  #kill(select: (processes: readonly CellProcess[]) => CellProcess[]): Promise<void> {
    return killAll(this.#launcher, select, { withinMs: patienceMs });
  }
}

let uptimeRead = { at: Number.NEGATIVE_INFINITY, seconds: 0 };

/** Clock ticks since boot. Ask the kernel once a second, because asking costs as much as a short command. */
function bootTicks(): number {
  const now = performance.now() / 1000;
  if (now - uptimeRead.at > 1) uptimeRead = { at: now, seconds: uptime() };
  return Math.floor((uptimeRead.seconds + now - uptimeRead.at) * ticksPerSecond);
}
