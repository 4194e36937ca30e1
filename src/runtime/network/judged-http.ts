/** How requests of one connection are judged: each by the rules of the moment in which it is sent. */
import type { Duplex } from 'node:stream';
import type { Host } from '../../protocol/network/host.js';
import { type Wanted, wantedFor } from './destination.js';
import type { ClientConnection } from './http-client.js';
import { passedOn } from './http-heads.js';
import type { NetworkLog } from './network-log.js';
import type { NetworkPolicy, Verdict } from './network-policy.js';
import { editRequest } from './opened/edit-request.js';
import type { Placeholders } from './opened/placeholders.js';
import { Refusal } from './refusal.js';
import type { Meter } from './tie.js';

type WantedHost = Wanted & { readonly host: Host };

interface By {
  readonly isProxy: boolean;
  /** It came over TLS, and leaves so. */
  readonly isSecure: boolean;
  readonly placeholders: Placeholders;
  readonly log: NetworkLog;
  readonly meter: Meter;
  /** The rules in force. */
  policy(): NetworkPolicy;
  decide(wanted: WantedHost): Promise<Verdict>;
  connect(wanted: WantedHost): Promise<Duplex>;
  /** Serves a stream of which only the destination is known. */
  serve(stream: Duplex, wanted: Wanted): Promise<void>;
}

export function judgedHttp(wanted: Wanted, by: By): ClientConnection {
  const { host, port } = wanted;
  const of = (named: Host, at: number) => wantedFor(wanted, by.policy(), named, at);
  return {
    host: host !== undefined && 'name' in host ? host : undefined,
    port,
    isProxy: by.isProxy,
    connect: (named, at) => by.connect(of(named, at)),
    async check(named, at) {
      const verdict = await by.decide(of(named, at));
      if (verdict.allowed) return;
      const refusal = new Refusal(named, at, verdict);
      by.log.refused(of(named, at), refusal);
      throw refusal;
    },
    judge(target, { method = 'GET', rawHeaders }) {
      const now = of(target.host, target.port);
      const head = { method, path: target.path, rawHeaders };
      const reason = by.policy().requests.refuses(now.host, now.port, head);
      if (reason === undefined) return;
      const refusal = new Refusal(now.host, now.port, { allowed: false, reason });
      by.log.refused(now, refusal);
      throw refusal;
    },
    edit(target, incoming) {
      const now = of(target.host, target.port);
      const { placeholders, isSecure } = by;
      const reader = () => {
        const sent = of(target.host, target.port);
        return by.policy().requests.reader(sent.host, sent.port, passedOn(incoming.rawHeaders, true));
      };
      const onRefused = (refusal: Refusal) => by.log.refused(of(target.host, target.port), refusal);
      return editRequest(
        { placeholders, isSecure, reader, onRefused },
        { ...target, host: now.host },
        incoming,
      );
    },
    tunnel(stream, named, at, head) {
      if (head.length > 0) stream.unshift(head);
      by.serve(stream, of(named, at)).catch(() => stream.destroy());
    },
    onRefused: (refusal) => by.log.refused({ ...wanted, host: refusal.host }, refusal),
    meter: by.meter,
  };
}
