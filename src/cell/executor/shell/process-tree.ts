/** Which processes belong to the command that runs in a shell, and what it takes to end them. */
import { uptime } from 'node:os';
import { ForkHold } from '../../launchers/fork-hold.js';
import type { CellProcess, Launcher } from '../../launchers/launcher.js';
import { withDescendants } from '../../launchers/process-table.js';

const ticksPerSecond = 100;

export class ProcessTree {
  readonly #launcher: Launcher;
  /** Children of the shell that an earlier command left in the background. */
  #spared = new Set<number>();
  #backgroundPid = 0;
  #startTicks = 0;

  constructor(launcher: Launcher) {
    this.#launcher = launcher;
  }

  commandStarts(): void {
    this.#startTicks = bootTicks();
  }

  /** Remembers what the command leaves running; only a shell with a new background process need be looked at. */
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

  /** Kills what the command started, those that left the terminal or their parent included. */
  killStarted(shellPid: number): void {
    this.#kill((processes) => this.#startedBy(processes, shellPid));
  }

  /** Kills everything that stems from the shell, the shell first, so that it takes no further step. */
  killAll(shellPid: number): void {
    this.#kill((processes) => withDescendants(processes, [shellPid]));
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

  #kill(select: (processes: readonly CellProcess[]) => CellProcess[]): void {
    const forks = new ForkHold(this.#launcher);
    try {
      // What is being killed may be starting more; each round leaves fewer that could.
      for (let round = 0; round < 20; round++) {
        const pids = select(this.#launcher.processes()).map((entry) => entry.pid);
        if (pids.length === 0) return;
        if (round > 0) forks.foundMore();
        this.#launcher.signal(pids, 'SIGKILL');
      }
    } finally {
      forks.release();
    }
  }
}

let uptimeRead = { at: Number.NEGATIVE_INFINITY, seconds: 0 };

/** Clock ticks since boot. The kernel is asked once a second, because asking costs as much as a short command. */
function bootTicks(): number {
  const now = performance.now() / 1000;
  if (now - uptimeRead.at > 1) uptimeRead = { at: now, seconds: uptime() };
  return Math.floor((uptimeRead.seconds + now - uptimeRead.at) * ticksPerSecond);
}
