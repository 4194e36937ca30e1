import { makeOwnerToken } from '../../cell/plugins/owner-tokens.js';
import type { PluginPort, PluginRuntime } from '../../cell/plugins/plugin.js';
import { thisProcess } from '../../cell/plugins/this-process.js';
import type { OwnVerbs } from '../verb-call.js';

export interface VscodeVerbs {
  /** The editor of the cell, for a person with a browser. */
  readonly vscode: RuntimeVscode;
}

export const vscodeVerbs: OwnVerbs<VscodeVerbs> = {
  vscode: (runtime) => new RuntimeVscode(runtime),
};

export class RuntimeVscode {
  readonly #runtime: Pick<PluginRuntime, 'execute' | 'ports'>;
  readonly #owner = makeOwnerToken();
  #forwarded: { readonly inside: number; readonly outside: PluginPort } | undefined;

  constructor(runtime: Pick<PluginRuntime, 'execute' | 'ports'>) {
    this.#runtime = runtime;
  }

  /**
   * The address of VS Code on the workspace, on this machine's loopback. Starts it where it does not run. Only this
   * runtime knows the token in it; whoever has it works in the cell without any of the checks of actions.
   */
  async url(): Promise<string> {
    const { token, tokenHash } = this.#owner;
    const { port, folder, process } = await this.#runtime.execute({ action: 'open_vscode', tokenHash });
    const outside = process === thisProcess ? port : await this.#forward(port);
    const query = new URLSearchParams({ tkn: token, folder });
    return `http://127.0.0.1:${outside}/?${query}`;
  }

  async status(): Promise<{ running: boolean }> {
    const { running } = await this.#runtime.execute({ action: 'vscode_status' });
    return { running };
  }

  /** Ends the editor, its terminals and every connection to it. Succeeds when it does not run. */
  async stop(): Promise<void> {
    await this.#runtime.execute({ action: 'stop_vscode' });
    await this.#letGo();
  }

  async #forward(inside: number): Promise<number> {
    if (this.#forwarded?.inside !== inside) {
      await this.#letGo();
      this.#forwarded = { inside, outside: await this.#runtime.ports.forward(inside) };
    }
    return this.#forwarded.outside.port;
  }

  async #letGo(): Promise<void> {
    await this.#forwarded?.outside.close();
    this.#forwarded = undefined;
  }
}
