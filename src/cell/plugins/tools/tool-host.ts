/** One tool host: a process in the cell that holds tools and runs calls of them, many at a time. */
import { type ExecuteContext, WorkcellError } from '../../../protocol/index.js';
import type { PluginCell } from '../plugin.js';
import { type Link, openLink } from './host-link.js';
import type { HostMessage } from './host-messages.js';
import type { HostProgram } from './inside/host-programs.js';
import { PendingCall, type ToolAnswer, type ToolCall } from './pending-call.js';
import { Requests } from './requests.js';
import { loadLimitMs } from './tool-limits.js';

/** Something that waits for a message from the host. */
interface Waiting {
  receive(message: HostMessage): void;
  fail(reason: string): void;
}

export interface KitToInstall {
  readonly key: string;
  readonly file: string;
  readonly name: string | undefined;
  readonly arguments: unknown;
  readonly describe: boolean;
}

export type InstalledKit = Pick<Extract<HostMessage, { type: 'installed' }>, 'tools' | 'described'>;

export class ToolHost {
  readonly #link: Link;
  readonly #waiting: Map<number, Waiting>;
  readonly #requests: Requests;
  #count = 0;
  #gone: string | undefined;

  static async start(cell: PluginCell, program: HostProgram): Promise<ToolHost> {
    const waiting = new Map<number, Waiting>();
    const requests = new Requests(cell);
    const link = await openLink(cell, program, (message) => {
      if (message.type === 'execute') requests.execute(message, waiting.has(message.id), link.send);
      else if (message.type === 'abandon') requests.abandon(message.request);
      else if (message.type !== 'hello') waiting.get(message.id)?.receive(message);
    });
    return new ToolHost(link, waiting, requests);
  }

  private constructor(link: Link, waiting: Map<number, Waiting>, requests: Requests) {
    this.#link = link;
    this.#waiting = waiting;
    this.#requests = requests;
    void link.lost.then((reason) => {
      this.#gone = reason;
      for (const entry of waiting.values()) entry.fail(reason);
      waiting.clear();
      requests.abandonAll();
    });
  }

  /** Settles when the host has ended. */
  get lost(): Promise<string> {
    return this.#link.lost;
  }

  /** Installs a module. Returns the names of its tools, and their descriptions if the caller wants them. */
  install({ describe, ...kit }: KitToInstall): Promise<InstalledKit> {
    const id = ++this.#count;
    return new Promise<InstalledKit>((resolve, reject) => {
      const timer = setTimeout(
        () => void this.#link.close(`a module took more than ${loadLimitMs} ms to load`),
        loadLimitMs,
      );
      const refuse = (code: 'invalid-tool' | 'tool-failed', reason: string) =>
        reject(new WorkcellError(code, `The module of the tools does not load: ${reason}`));
      this.#wait(id, timer, {
        receive(message) {
          if (message.type === 'installed') resolve(message);
          else if (message.type === 'refused') refuse(message.code, message.message);
        },
        fail: (reason) => refuse('tool-failed', `the tool host ended: ${reason}.`),
      });
      if (this.#gone !== undefined) this.#waiting.get(id)?.fail(this.#gone);
      const { key, file, name, arguments: given } = kit;
      this.#link.send({ type: 'install', id, key, file, name, arguments: given, describe });
    }).finally(() => this.#waiting.delete(id));
  }

  async call(call: ToolCall, context: ExecuteContext): Promise<ToolAnswer> {
    const id = ++this.#count;
    const pending = new PendingCall(id, call, context, this.#link);
    this.#waiting.set(id, pending);
    if (this.#gone !== undefined) pending.fail(this.#gone);
    try {
      return await pending.answer;
    } finally {
      this.#waiting.delete(id);
      this.#requests.abandonCall(id);
    }
  }

  close(): Promise<void> {
    return this.#link.close('it was reset');
  }

  #wait(id: number, timer: NodeJS.Timeout, waiting: Waiting): void {
    this.#waiting.set(id, {
      receive(message) {
        clearTimeout(timer);
        waiting.receive(message);
      },
      fail(reason) {
        clearTimeout(timer);
        waiting.fail(reason);
      },
    });
  }
}
