/** The limits on connections, for one kind of them. */
import type { FullNetworkRules } from '../../protocol/network/network-schema.js';

export class ConnectionLimit {
  #second = { number: 0, count: 0 };

  /** Counts one more connection. Returns the limit that it exceeds; undefined when we may make it. */
  reached(
    { connections, connectionsPerSecond }: FullNetworkRules['limits'],
    open: number,
  ): string | undefined {
    if (open >= connections) return `the cell has ${connections} connections, which is its limit`;
    const number = Math.floor(performance.now() / 1000);
    if (this.#second.number !== number) this.#second = { number, count: 0 };
    if (connectionsPerSecond === undefined || ++this.#second.count <= connectionsPerSecond) return undefined;
    return `the cell may open ${connectionsPerSecond} connections in a second`;
  }
}
