/** A shell that starts before anybody needs one, in parallel with the cell itself; the first session gets it. */
import type { Launcher } from '../../launchers/launcher.js';
import { type Shell, type ShellEvents, shellSize, startShell } from './persistent-bash.js';

/** Most cells run commands, so start a shell while the caller still learns that the cell is ready. */
export function spareShell(launcher: Launcher): SpareShell {
  return new SpareShell(launcher, { cwd: launcher.files.workspace, environment: launcher.environment });
}

export class SpareShell {
  readonly #started: Promise<Shell | undefined>;
  #events: ShellEvents | undefined;
  #usable = true;

  /** `environment`: the initial variables of the cell. */
  constructor(
    launcher: Pick<Launcher, 'bash' | 'openPty'>,
    place: { readonly cwd: string; readonly environment: Readonly<Record<string, string>> },
  ) {
    this.#started = startShell(
      launcher,
      { cwd: place.cwd, env: place.environment, size: shellSize },
      {
        onOutput: (chunk) => this.#events?.onOutput(chunk),
        onReport: (report) => this.#events?.onReport(report),
        onLeave: (cwd) => this.#events?.onLeave(cwd),
        onExit: (status) => {
          this.#usable = false;
          this.#events?.onExit(status);
        },
      },
      // The command that needs a shell starts one, and reports why that fails.
    ).catch(() => undefined);
  }

  /** Undefined when a session has taken it or it has ended. */
  async take(events: ShellEvents): Promise<Shell | undefined> {
    if (this.#events !== undefined) return undefined;
    this.#events = events;
    const shell = await this.#started;
    return this.#usable ? shell : undefined;
  }

  async close(): Promise<void> {
    if (this.#events === undefined) (await this.#started)?.close();
  }
}
