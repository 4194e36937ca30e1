/** One running kernel: a process of the cell, and the channels to it. */

import { WorkcellError } from '../../../protocol/index.js';
import type { LaunchedProcess } from '../../launchers/launcher.js';
import type { PluginCell } from '../plugin.js';
import { guard } from '../plugin-guard.js';
import { type Channel, ConnectionFile } from './connection-file.js';
import { type Content, type Message, Messages } from './jupyter-messages.js';
import type { KernelSpec } from './kernel-specs.js';
import { describeExit } from './notices.js';
import { type Frame, ZmtpConnection } from './zmtp.js';

/** How a kernel died. */
export type KernelExit =
  | { readonly endedBy: 'oom' }
  | { readonly endedBy: 'killed'; readonly signal: string }
  | { readonly endedBy: 'lost'; readonly exitCode: number | null };

/** What a kernel reports about the code cell that runs in it. */
export interface KernelListener {
  onMessage(channel: Channel, message: Message): void;
  /** A message came that was too large to keep. */
  onOmitted(channel: Channel, bytes: number): void;
  /** A message came that the kernel did not sign, or that makes no sense. */
  onMalformed(): void;
}

/** A kernel that is not ready by then never will be. */
const startMs = 120_000;

/** A kernel whose connection broke has this long to end by itself. */
const exitGraceMs = 2000;

/** The longest message to keep: more than a picture needs, and little enough to read at once. */
const messageBytes = 16 * 1024 * 1024;

const complaintBytes = 4096;

/** Only a person uses a history of code cells on disk, and it costs every start a database. */
const ipykernelOptions = ['--HistoryManager.enabled=False', '--InteractiveShell.colors=NoColor'];

export class Kernel {
  readonly spec: KernelSpec;
  /** Settles when the kernel has ended. */
  readonly ended: Promise<KernelExit>;
  listener: KernelListener | undefined;
  /** The kernel's own description, such as its language and the names of its files. */
  info: Content = {};

  readonly #cell: PluginCell;
  readonly #process: LaunchedProcess;
  readonly #file: ConnectionFile;
  readonly #messages: Messages;
  readonly #connections = new Map<Channel, ZmtpConnection>();
  readonly #replies = new Map<string, (message: Message) => void>();
  readonly #gone = new AbortController();
  readonly #oomKillsBefore: number;
  #complaint = '';
  #heard = false;
  #dead = false;
  #broken: string | undefined;

  static async start(cell: PluginCell, spec: KernelSpec, cwd?: string): Promise<Kernel> {
    const file = new ConnectionFile(cell);
    let kernel: Kernel;
    try {
      const argv = [...spec.argv, ...(spec.argv.includes('ipykernel_launcher') ? ipykernelOptions : [])];
      const command = argv.map((word) => word.replaceAll('{connection_file}', file.path));
      const process = await cell.spawn(['sh', '-c', file.setup + guard, file.directory, ...command], {
        env: spec.env,
        ...(cwd === undefined ? {} : { cwd }),
      });
      kernel = new Kernel(cell, spec, process, file);
    } catch (error) {
      file.remove();
      throw error;
    }
    await kernel.#meet();
    return kernel;
  }

  private constructor(cell: PluginCell, spec: KernelSpec, process: LaunchedProcess, file: ConnectionFile) {
    this.#cell = cell;
    this.spec = spec;
    this.#process = process;
    this.#file = file;
    this.#messages = new Messages(file.key);
    this.#oomKillsBefore = cell.oomKills();
    process.stdin.on('error', () => {});
    process.stdout.on('error', () => {}).resume();
    process.stderr.on('error', () => {});
    process.stderr.on('data', (chunk: Buffer) => {
      this.#complaint = (this.#complaint + chunk.toString('utf8')).slice(-complaintBytes);
    });
    this.ended = process.exited.then(({ exitCode, signal }) => this.#reportExit(exitCode, signal));
  }

  get pid(): number {
    return this.#process.pid;
  }

  get alive(): boolean {
    return !this.#dead && this.#broken === undefined;
  }

  /** Sends a message. Returns the id that all answers to it name. */
  send(channel: Channel, type: string, content: Content, parent?: Content): string {
    const { id, frames } = this.#messages.write(type, content, parent);
    this.#connections.get(channel)?.send(frames);
    return id;
  }

  /** Opens the channel on which code asks for input. */
  async openStdin(): Promise<void> {
    if (!this.#connections.has('stdin')) await this.#connect('stdin');
  }

  interrupt(): void {
    this.resume();
    if (this.spec.interrupt === 'message') this.send('control', 'interrupt_request', {});
    else this.#cell.signal([this.pid], 'SIGINT');
  }

  /**
   * Stops the whole kernel: it would drop what it publishes meanwhile. Another process of the cell may resume it, so
   * stop reading from it too.
   */
  pause(): void {
    this.#cell.signal([this.pid], 'SIGSTOP');
    this.#connections.get('iopub')?.pause();
  }

  resume(): void {
    this.#connections.get('iopub')?.resume();
    this.#cell.signal([this.pid], 'SIGCONT');
  }

  /** Ends the kernel and all that it started, at once. */
  async kill(): Promise<void> {
    if (!this.#dead) await this.#cell.kill(this.pid);
    this.#process.stdin.destroy();
    await this.ended;
  }

  /** Asks the kernel to end, so that it can clean up, and kills it when it does not. */
  async shutDown(graceMs: number): Promise<void> {
    this.send('control', 'shutdown_request', { restart: false });
    const timer = setTimeout(() => void this.kill(), graceMs);
    await this.ended;
    clearTimeout(timer);
  }

  /** Connects to the channels and waits until the kernel answers on both necessary ones. */
  async #meet(): Promise<void> {
    const timer = setTimeout(() => void this.#giveUp(), startMs);
    try {
      await Promise.all((['shell', 'iopub', 'control'] as const).map((channel) => this.#connect(channel)));
      // A subscription takes effect some time after we send it; the first published message shows that it has.
      while (!this.#heard) {
        const { content } = await this.#ask('kernel_info_request');
        this.info = content;
      }
      this.#file.settled();
    } catch (cause) {
      await this.kill();
      const detail = describeExit(await this.ended);
      const complaint = this.#complaint.trim();
      throw new WorkcellError(
        'plugin-unavailable',
        `The kernel "${this.spec.name}" did not start: ${complaint === '' ? detail : complaint}`,
        { details: { kernel: this.spec.name, complaint }, cause },
      );
    } finally {
      clearTimeout(timer);
    }
  }

  async #giveUp(): Promise<void> {
    this.#complaint = `It was not ready after ${startMs / 1000} s.`;
    await this.kill();
  }

  async #connect(channel: Channel): Promise<void> {
    const stream = await this.#file.open(channel, this.#gone.signal);
    const connection = new ZmtpConnection(stream, {
      type: channel === 'iopub' ? 'SUB' : 'DEALER',
      // The kernel asks for input under the identity that sent the code cell.
      identity: channel === 'iopub' ? undefined : this.#messages.session,
      limitBytes: messageBytes,
      onMessage: (frames) => this.#receive(channel, frames),
      onEnd: (error) => this.#breakOff(error),
    });
    this.#connections.set(channel, connection);
    await connection.ready;
  }

  #ask(type: string): Promise<Message> {
    return new Promise((resolve, reject) => {
      const id = this.send('shell', type, {});
      this.#replies.set(id, resolve);
      this.#gone.signal.addEventListener('abort', () => reject(new Error('The kernel ended.')), {
        once: true,
      });
    });
  }

  #receive(channel: Channel, frames: Frame[]): void {
    const omitted = frames.reduce(
      (total, frame) => total + (Buffer.isBuffer(frame) ? 0 : frame.omittedBytes),
      0,
    );
    const message = omitted > 0 ? undefined : this.#messages.read(frames);
    if (omitted > 0) this.listener?.onOmitted(channel, omitted);
    else if (message === undefined) this.listener?.onMalformed();
    else this.#deliver(channel, message);
  }

  #deliver(channel: Channel, message: Message): void {
    if (channel === 'iopub') this.#heard = true;
    const reply = message.parentId === undefined ? undefined : this.#replies.get(message.parentId);
    if (reply !== undefined && channel === 'shell') {
      this.#replies.delete(message.parentId as string);
      reply(message);
    } else this.listener?.onMessage(channel, message);
  }

  #breakOff(error: Error | undefined): void {
    if (this.#broken !== undefined || this.#dead) return;
    this.#broken = error?.message ?? 'The connection to it broke.';
    this.#gone.abort();
    this.#file.wake();
    const timer = setTimeout(() => void this.kill(), exitGraceMs);
    void this.ended.then(() => clearTimeout(timer));
  }

  #reportExit(exitCode: number | null, signal: string | null): KernelExit {
    this.#dead = true;
    this.#gone.abort();
    this.#file.wake();
    for (const connection of this.#connections.values()) connection.close();
    // The watcher sees the end of its input, and ends the rest of the group with it.
    this.#process.stdin.destroy();
    this.#file.remove();
    const oom = this.#cell.oomKills() > this.#oomKillsBefore;
    if (signal === 'SIGKILL' && oom) return { endedBy: 'oom' };
    return signal === null ? { endedBy: 'lost', exitCode } : { endedBy: 'killed', signal };
  }
}
