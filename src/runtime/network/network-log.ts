/** What is told of a cell's network: to the record, and in its figures. */
import { formatHost, type Host } from '../../protocol/network/host.js';
import type { NetworkEvent, NetworkRecord } from '../../protocol/network/network-schema.js';
import { EventRate } from './event-rate.js';
import type { Refusal } from './refusal.js';

export class NetworkLog {
  readonly #rate = new EventRate();
  #listener: (event: NetworkRecord) => void = () => {};
  #refusals = 0;

  get refusals(): number {
    return this.#refusals;
  }

  listen(listener: (event: NetworkRecord) => void): void {
    this.#listener = listener;
  }

  changed(event: NetworkRecord & { outcome: 'changed' }): void {
    this.#listener(event);
  }

  record(event: NetworkEvent): void {
    const recorded = this.#rate.pass(event);
    if (recorded !== undefined) this.#listener(recorded);
  }

  refused(
    { host, port, via }: { host: Host | undefined; port: number; via: NetworkEvent['via'] },
    { rule, reason }: Refusal,
  ): void {
    this.#refusals++;
    this.record({
      outcome: 'refused',
      host: host === undefined ? '' : formatHost(host),
      port,
      via,
      rule,
      reason,
    });
  }
}
