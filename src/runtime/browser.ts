import { makeOwnerToken } from '../cell/plugins/owner-tokens.js';
import { thisProcess } from '../cell/plugins/this-process.js';
import type { RuntimePorts } from './runtime-ports.js';
import type { Call } from './verb-call.js';

/** The browser of a cell, for tools of its owner. */
export class RuntimeBrowser {
  readonly #call: Call;
  readonly #ports: RuntimePorts;
  readonly #owner = makeOwnerToken();

  constructor(call: Call, ports: RuntimePorts) {
    this.#call = call;
    this.#ports = ports;
  }

  /**
   * An address on this machine's loopback that speaks the DevTools protocol, for `chromium.connectOverCDP` and the like.
   * Who knows it drives the browser without any of the checks that actions go through.
   */
  async cdpUrl(): Promise<string> {
    const { token, tokenHash } = this.#owner;
    const { port, process } = await this.#call.execute({ action: 'open_cdp', tokenHash });
    const outside = process === thisProcess ? port : (await this.#ports.forward(port)).port;
    return `ws://127.0.0.1:${outside}/${token}`;
  }
}
