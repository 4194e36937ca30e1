/** The sockets of one kernel: where they are, and how this side waits for them without polling. */
import { randomBytes } from 'node:crypto';
import { type FSWatcher, rmSync, watch, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import { WorkcellError } from '../../../protocol/index.js';
import type { PluginCell } from '../plugin.js';

const channels = { shell: 1, iopub: 2, stdin: 3, control: 4, hb: 5 } as const;

export type Channel = keyof typeof channels;

/** The longest path of a socket that the operating system takes. */
const longestPath = 107;

/** The descriptor by which a kernel reaches a directory whose path is too long. */
const descriptor = 9;

export class ConnectionFile {
  /** As the kernel sees it. */
  readonly path: string;
  /** Where the sockets are, as the kernel sees it. */
  readonly directory: string;
  /** What a shell does before it becomes the kernel; its name is the directory. */
  readonly setup: string;
  readonly key = randomBytes(32).toString('hex');
  readonly #cell: PluginCell;
  readonly #name = `workcell-${randomBytes(6).toString('hex')}`;
  readonly #watcher: FSWatcher;
  #wake: (() => void)[] = [];

  constructor(cell: PluginCell) {
    this.#cell = cell;
    this.directory = cell.sockets.inside;
    this.path = this.#inside(`${this.#name}.json`);
    const isLong = Buffer.byteLength(this.#inside(`${this.#name}-1`)) > longestPath;
    this.setup = isLong ? `exec ${descriptor}<"$0"; ` : '';
    this.#watcher = watch(cell.sockets.outside, (_event, name) => {
      if (name === null || name.startsWith(this.#name)) this.wake();
    });
    this.#watcher.on('error', () => this.wake());
    const ports = Object.fromEntries(
      Object.entries(channels).map(([channel, port]) => [`${channel}_port`, port]),
    );
    const content = {
      transport: 'ipc',
      ip: isLong ? `/proc/self/fd/${descriptor}/${this.#name}` : this.#inside(this.#name),
      ...ports,
      key: this.key,
      signature_scheme: 'hmac-sha256',
      kernel_name: '',
    };
    writeFileSync(this.#outside(`${this.#name}.json`), JSON.stringify(content), { mode: 0o600, flag: 'wx' });
  }

  /** A connection to a channel, as soon as the kernel listens on it. */
  async open(channel: Channel, stopped: AbortSignal): Promise<Duplex> {
    for (;;) {
      const changed = this.#change();
      if (stopped.aborted) throw new WorkcellError('cancelled', 'The start of the kernel was cancelled.');
      const outcome = await this.#tryNames(channels[channel]);
      if (typeof outcome !== 'string') return outcome;
      // Between its bind and its listen a socket refuses connections for a moment, and no event tells when that ends.
      if (outcome === 'ECONNREFUSED') await new Promise((resolve) => setImmediate(resolve));
      else await changed;
    }
  }

  /** Makes all waiting calls look again. */
  wake(): void {
    const waiting = this.#wake;
    this.#wake = [];
    for (const resolve of waiting) resolve();
  }

  /** The kernel listens on every channel; stop watching. */
  settled(): void {
    this.#watcher.close();
  }

  remove(): void {
    this.settled();
    const files = Object.values(channels).flatMap((port) => this.#socketNames(port));
    for (const file of [`${this.#name}.json`, ...files]) {
      try {
        rmSync(this.#outside(file), { force: true });
      } catch {
        // The cell has ended and took the place with it, or a process inside put something else there, which ends
        // with the cell.
      }
    }
  }

  /** Kernels join the two parts by a hyphen, as Jupyter does, or by a colon, as for TCP. */
  #socketNames(port: number): string[] {
    return [`${this.#name}-${port}`, `${this.#name}:${port}`];
  }

  async #tryNames(port: number): Promise<Duplex | string> {
    let failure = 'ENOENT';
    for (const name of this.#socketNames(port)) {
      try {
        return await this.#cell.connect(this.#inside(name));
      } catch (error) {
        const { code = '' } = error as NodeJS.ErrnoException;
        if (code !== 'ENOENT') failure = code;
      }
    }
    return failure;
  }

  #change(): Promise<void> {
    return new Promise((resolve) => this.#wake.push(resolve));
  }

  #inside(name: string): string {
    return join(this.#cell.sockets.inside, name);
  }

  #outside(name: string): string {
    return join(this.#cell.sockets.outside, name);
  }
}
