import { createHash, randomBytes } from 'node:crypto';
import { thisProcess } from '../plugins/this-process.js';
import type { Call } from './call.js';
import type { RuntimePorts } from './ports.js';

/** The browser of a cell, for tools of its owner. */
export class RuntimeBrowser {
  readonly #call: Call;
  readonly #ports: RuntimePorts;
  readonly #token = randomBytes(32).toString('hex');

  constructor(call: Call, ports: RuntimePorts) {
    this.#call = call;
    this.#ports = ports;
  }

  /**
   * An address on this machine's loopback that speaks the DevTools protocol, for `chromium.connectOverCDP` and the like.
   * Who knows it drives the browser without any of the checks that actions go through.
   */
  async cdpUrl(): Promise<string> {
    const tokenHash = createHash('sha256').update(this.#token).digest('hex');
    const { port, process } = await this.#call.execute({ action: 'open_cdp', tokenHash });
    const outside = process === thisProcess ? port : (await this.#ports.forward(port)).port;
    return `ws://127.0.0.1:${outside}/${this.#token}`;
  }
}
