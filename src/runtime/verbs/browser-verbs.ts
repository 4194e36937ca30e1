import type { BrowserStep } from '../../cell/plugins/browser/browser-actions.js';
import { makeOwnerToken } from '../../cell/plugins/owner-tokens.js';
import type { PluginRuntime } from '../../cell/plugins/plugin.js';
import { thisProcess } from '../../cell/plugins/this-process.js';
import type { Observation } from '../../protocol/index.js';
import type { ActionOptions, OwnVerbs } from '../verb-call.js';

export interface BrowserVerbs {
  /** The browser of the cell, for tools of its owner. */
  readonly browser: RuntimeBrowser;
  /** Opens an address, or a file of the cell, in a browser inside the cell. */
  browse(url: string, options?: ActionOptions<'browse', 'url'> & Cancellable): Promise<Observation<'browse'>>;
  /** Does something in the browser: calls of the BrowserGym language, or steps as a list. */
  browseInteractive(
    what: string | BrowserStep[],
    options?: ActionOptions<'browse_interactive', 'code' | 'steps'> & Cancellable,
  ): Promise<Observation<'browse_interactive'>>;
}

interface Cancellable {
  signal?: AbortSignal | undefined;
}

export const browserVerbs: OwnVerbs<BrowserVerbs> = {
  browser: (runtime) => new RuntimeBrowser(runtime),
  browse:
    (runtime) =>
    (url, { signal, ...options } = {}) =>
      runtime.execute({ action: 'browse', url, ...options }, { signal }),
  browseInteractive:
    (runtime) =>
    (what, { signal, ...options } = {}) => {
      const wanted = typeof what === 'string' ? { code: what } : { steps: what };
      return runtime.execute({ action: 'browse_interactive', ...wanted, ...options }, { signal });
    },
};

class RuntimeBrowser {
  readonly #runtime: PluginRuntime;
  readonly #owner = makeOwnerToken();

  constructor(runtime: PluginRuntime) {
    this.#runtime = runtime;
  }

  /**
   * An address on this machine's loopback that speaks the DevTools protocol, for `chromium.connectOverCDP` and the
   * like. Whoever knows it drives the browser without any of the checks of actions.
   */
  async cdpUrl(): Promise<string> {
    const { token, tokenHash } = this.#owner;
    const { port, process } = await this.#runtime.execute({ action: 'open_cdp', tokenHash });
    const outside = process === thisProcess ? port : (await this.#runtime.ports.forward(port)).port;
    return `ws://127.0.0.1:${outside}/${token}`;
  }
}
