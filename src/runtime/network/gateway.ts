/**
 * The only way out of a cell. Streams and DNS questions arrive here with the address that the program in the cell
 * asked for. The gateway finds out the host, decides, connects and records.
 */

import type { Duplex } from 'node:stream';
import type { TLSSocket } from 'node:tls';
import type { CellNetwork, NetworkAsker, NetworkSecret, NetworkStats } from '../../protocol/cell.js';
import { formatAuthority, formatHost, type Host } from '../../protocol/network/host.js';
import {
  type FullNetworkRules,
  type NetworkRecord,
  type NetworkRules,
  networkRulesSchema,
} from '../../protocol/network/network-schema.js';
import { ByteRate } from './byte-rate.js';
import { CellNames } from './cell-names.js';
import { looksLikeTls } from './client-hello.js';
import { ConnectionLimit } from './connection-limit.js';
import { type Destination, type Wanted, wantedBy } from './destination.js';
import { dial, exists, mayStay } from './dial.js';
import { DnsStub } from './dns-stub.js';
import { firstBytes } from './first-bytes.js';
import { HttpForwarder } from './http-forwarder.js';
import { sameHost } from './http-target.js';
import { judgedHttp } from './judged-http.js';
import { Lookups } from './lookups.js';
import { NetworkLog } from './network-log.js';
import { NetworkPolicy, type Verdict } from './network-policy.js';
import { type Open, OpenConnections } from './open-connections.js';
import { notOpened, TlsOpener, type TrustedByCell } from './opened/open-tls.js';
import { Placeholders } from './opened/placeholders.js';
import { Questions, unanswered } from './questions.js';
import { Refusal, refuseStream, reset, Unreachable } from './refusal.js';
import { FirstLine, looksLikeHttp, mayBecomeHttp } from './request-line.js';
import { readSocksRequest } from './socks.js';
import { addresseeOf, isTelling, namedIn } from './telling.js';
import { endTogether, endWhenIdle, type Meter, pass, tie } from './tie.js';
import { keepWithin } from './within.js';

/** Ports of the cell to take connections on. */
type Ports = readonly number[] | 'all';

/** A program that connects to one of these speaks first, so we can wait for it. */
const clientFirst = new Set([80, 443]);
const helloMs = 10_000;
const serverFirstMs = 100;

export class EgressGateway implements CellNetwork {
  #policy: NetworkPolicy;
  readonly #names = new CellNames();
  readonly #lookups = new Lookups();
  readonly #stub: DnsStub;
  readonly #http = new HttpForwarder();
  readonly #placeholders: Placeholders;
  /** Only where the cell was started with hosts whose TLS is opened: its programs trust no other certificates. */
  readonly #tls: TlsOpener | undefined;
  readonly #streams = new Set<Duplex>();
  readonly #open = new OpenConnections();
  readonly #rates = { sent: new ByteRate(), received: new ByteRate() };
  readonly #log = new NetworkLog();
  readonly #questions = new Questions();
  #changing: Promise<void> = Promise.resolve();
  #onPorts: (ports: Ports) => Promise<void> = async () => {};
  /**
   * Counts connections of the cell and those to servers apart: through a proxy, one of the cell opens many to
   * servers.
   */
  readonly #accepted = new ConnectionLimit();
  readonly #dialled = new ConnectionLimit();
  /** How many connections are in the making. */
  #dialling = 0;
  #closed = false;

  constructor(rules: FullNetworkRules, secrets: readonly NetworkSecret[] = []) {
    this.#policy = new NetworkPolicy(rules);
    this.#placeholders = new Placeholders(secrets);
    if (rules.requests.length > 0 || secrets.length > 0) this.#tls = new TlsOpener();
    this.#stub = new DnsStub({
      names: this.#names,
      exists: async (name) => !this.#policy.mayResolve(name) || exists(this.#policy, this.#lookups, name),
    });
  }

  /** What programs of the cell have to trust, and the variables that hold placeholders. */
  get opened(): (TrustedByCell & { readonly placeholders: Record<string, string> }) | undefined {
    return this.#tls && { ...this.#tls.trusted, placeholders: this.#placeholders.environment };
  }

  rules(): FullNetworkRules {
    return structuredClone(this.#policy.rules);
  }

  /** Makes changes one after the other: each starts from the rules that the previous one left. */
  change(next: (before: FullNetworkRules) => NetworkRules): Promise<void> {
    const changed = this.#changing.then(() => this.#change(next));
    this.#changing = changed.catch(() => {});
    return changed;
  }

  async #change(next: (before: FullNetworkRules) => NetworkRules): Promise<void> {
    const before = this.rules();
    const rules = keepWithin(before, networkRulesSchema.parse(next(this.rules())));
    if (rules.requests.length > 0 && this.#tls === undefined) throw notOpened();
    const policy = new NetworkPolicy(rules);
    // Deny at once, and open ports before allowing anything: when the ports fail to open, only the denials stay.
    if (rules.deny.some((rule) => !before.deny.includes(rule)))
      this.#enforce(new NetworkPolicy({ ...before, deny: [...new Set([...before.deny, ...rules.deny])] }));
    await this.#onPorts(policy.ports);
    this.#enforce(policy);
    this.#log.changed({ outcome: 'changed', rules: this.rules() });
  }

  #enforce(policy: NetworkPolicy): void {
    const before = this.#policy;
    this.#policy = policy;
    this.#questions.forget();
    // A request that was judged by other rules may still be on its way, or have left HTTP behind.
    this.#open.end('the rules changed', (open) => {
      const { host, port } = open;
      return !this.#stillAllowed(open) || !policy.requests.agrees(before.requests, host, port);
    });
  }

  listen(listener: (event: NetworkRecord) => void): void {
    this.#log.listen(listener);
  }

  answerWith(asker: NetworkAsker | undefined): void {
    this.#questions.setAsker(asker);
  }

  /** Returns the ports to listen on, and calls `onPorts` when they change. */
  bind(onPorts: (ports: Ports) => Promise<void>): Ports {
    this.#onPorts = onPorts;
    return this.#policy.ports;
  }

  stats(): NetworkStats {
    return { ...this.#open.stats(), refused: this.#log.refusals };
  }

  /** The reply to a DNS message. */
  async query(message: Buffer): Promise<Buffer | undefined> {
    return this.#closed ? undefined : this.#stub.reply(message);
  }

  /** Takes a connection that a program in the cell made. */
  accept(stream: Duplex, destination: Destination): void {
    stream.on('error', () => {});
    if (this.#closed) return void reset(stream);
    const { port } = destination;
    const wanted = wantedBy(destination, this.#names);
    const limit = this.#accepted.reached(this.#policy.rules.limits, this.#streams.size);
    if (limit !== undefined) {
      this.#log.refused(wanted, new Refusal(wanted.host, port, { allowed: false, reason: limit }));
      return void reset(stream);
    }
    this.#streams.add(stream);
    stream.once('close', () => this.#streams.delete(stream));
    const served = port === 53 ? this.#stub.serve(stream) : this.#serve(stream, wanted);
    served.catch(() => stream.destroy());
  }

  /** Ends every connection. */
  close(): void {
    this.#closed = true;
    this.#questions.close();
    for (const stream of this.#streams) stream.destroy();
    this.#open.end();
  }

  async #serve(stream: Duplex, wanted: Wanted): Promise<void> {
    if (wanted.via === 'http-proxy') return this.#serveHttp(stream, wanted, true);
    if (wanted.via !== 'socks') return this.#serveStream(stream, wanted);
    const request = await readSocksRequest(stream);
    if (request === undefined) return;
    const { host, port, answer } = request;
    const asked = { ...wanted, host, port };
    const verdict = await this.#decide(asked);
    if (!verdict.allowed) {
      this.#log.refused(asked, new Refusal(host, port, verdict));
      answer('refused');
      stream.end();
      stream.resume();
      return;
    }
    answer('granted');
    return this.#serveStream(stream, asked);
  }

  /** Serves a stream of which we know only the destination. */
  async #serveStream(stream: Duplex, wanted: Wanted): Promise<void> {
    const { host, port } = wanted;
    const speaksFirst = clientFirst.has(port) || this.#isRead(host, port);
    const verdict: Verdict =
      host === undefined ? { allowed: false } : await this.#decide({ ...wanted, host });
    // The rules may allow the name that the program will tell, although they refuse the address that it found by
    // itself.
    const mayBeNamed = host !== undefined && 'address' in host && speaksFirst;
    if (!verdict.allowed && !mayBeNamed)
      return this.#refuse(stream, wanted, new Refusal(host, port, verdict));
    let first = await firstBytes(stream, isTelling, speaksFirst ? helloMs : serverFirstMs);
    if (stream.destroyed) return;
    if (first.length === 0) {
      if (speaksFirst || host === undefined) return void stream.destroy();
      return this.#serveServerFirst(stream, { ...wanted, host });
    }
    // A pause in the middle of a line does not tell what the line becomes.
    if (!isTelling(first) && !speaksFirst) first = await firstBytes(stream, isTelling, helloMs);
    if (stream.destroyed) return;
    return this.#serveKnown(stream, wanted, verdict, first);
  }

  /** The client has spoken. What it says must be for the host that it connected to. */
  async #serveKnown(stream: Duplex, wanted: Wanted, verdict: Verdict, first: Buffer): Promise<void> {
    const { host, port } = wanted;
    const addressee = addresseeOf(first);
    const isPlain = !this.#isRead(host, port) && !this.#policy.judges(addressee, port);
    if (host !== undefined && 'address' in host && verdict.allowed && isPlain)
      return this.#splice(stream, { ...wanted, host, addressee }, first);
    if (looksLikeTls(first)) {
      const named = namedIn(first);
      if (named === undefined || (host !== undefined && 'name' in host && !sameHost(named, host))) {
        const reason =
          named === undefined ? 'the TLS hello names no host' : `the TLS hello names ${formatHost(named)}`;
        return this.#refuse(stream, wanted, new Refusal(host, port, { allowed: false, reason }), first);
      }
      const judged = await this.#decide({ ...wanted, host: named });
      if (!judged.allowed)
        return this.#refuse(stream, { ...wanted, host: named }, new Refusal(named, port, judged), first);
      if (this.#isRead(named, port)) return this.#serveOpened(stream, { ...wanted, host: named });
      return this.#splice(stream, { ...wanted, host: named }, first);
    }
    if (looksLikeHttp(first)) return this.#serveHttp(stream, wanted, false);
    // On the port of HTTP, what is no request of HTTP/1 could be one that nobody can judge.
    const isOpaque = port === 80 || mayBecomeHttp(first) || this.#isRead(host, port);
    if (host === undefined || 'address' in host || isOpaque) {
      const reason = 'neither TLS nor HTTP/1 tells which host it is for';
      return this.#refuse(stream, wanted, new Refusal(host, port, { allowed: false, reason }), first);
    }
    return this.#splice(stream, { ...wanted, host }, first);
  }

  /** Such as SSH, mail and databases: the server speaks first. We still check what the client says then. */
  async #serveServerFirst(stream: Duplex, wanted: Wanted & { readonly host: Host }): Promise<void> {
    const { host, port } = wanted;
    const open = await this.#connect(wanted).catch((error: Error) => this.#failed(stream, error));
    if (open === undefined) return;
    const { upstream } = open;
    const part = endTogether(stream, upstream);
    endWhenIdle(upstream);
    pass(upstream, stream, (bytes) => this.#meter('received', bytes));
    const first = await firstBytes(stream, isTelling, 2_147_483_647);
    if (stream.destroyed) return;
    // A program that only listens has nothing to judge.
    if (first.length === 0 && stream.readableEnded) return void upstream.end();
    open.addressee = addresseeOf(first);
    const isHttp = looksLikeHttp(first);
    const named = looksLikeTls(first) ? namedIn(first) : mayBecomeHttp(first) ? undefined : host;
    const isOther =
      'name' in host
        ? named === undefined || !sameHost(named, host)
        : this.#policy.judges(open.addressee, port);
    if (isHttp || isOther) {
      if (isHttp && upstream.bytesRead === 0) {
        part();
        upstream.destroy();
        return this.#serveHttp(stream, wanted, false);
      }
      const reason = 'what the program says is for another host';
      this.#log.refused(wanted, new Refusal(host, port, { allowed: false, reason }));
      return void stream.destroy();
    }
    this.#watch(stream, open, wanted);
    pass(stream, upstream, (bytes) => this.#meter('sent', bytes));
  }

  async #splice(stream: Duplex, wanted: Wanted & { readonly host: Host }, first: Buffer): Promise<void> {
    const open = await this.#connect(wanted).catch((error: Error) => this.#failed(stream, error, first));
    if (open === undefined) return;
    const { upstream } = open;
    this.#watch(stream, open, wanted);
    endWhenIdle(upstream);
    tie(stream, upstream, this.#meter);
  }

  /** Ends the connection where what the program sends becomes a request which nobody has judged. */
  #watch(stream: Duplex, open: Open, wanted: Wanted): void {
    const line = new FirstLine();
    stream.on('data', (chunk: Buffer) => {
      if (open.addressee === 'unread' || line.take(chunk) !== 'request') return;
      open.addressee = 'unread';
      const { host, port } = open;
      if ('address' in host && !this.#policy.judges('unread', port)) return;
      const reason = 'a request came in pieces, so that nobody has judged it';
      this.#log.refused(wanted, new Refusal(host, port, { allowed: false, reason }));
      // This comes before the chunk is written, so the server gets no whole line.
      open.upstream.destroy();
      stream.destroy();
    });
  }

  /** True when rules or secrets need the requests to that host read, so that its TLS is opened. */
  #isRead(host: Host | undefined, port: number): boolean {
    if (this.#tls === undefined || host === undefined) return false;
    if (this.#policy.requests.isOn(host, port)) return true;
    return 'name' in host && this.#placeholders.isFor({ host, port, isSecure: true });
  }

  /** TLS that ends here, and begins again on the way to the server. */
  async #serveOpened(stream: Duplex, wanted: Wanted & { readonly host: Host }): Promise<void> {
    const { host, port, via } = wanted;
    try {
      const secure = await this.#tls?.accept(stream, formatHost(host));
      if (secure !== undefined) this.#serveHttp(secure, wanted, false, this.#tls);
    } catch (error) {
      const reason = `the program did not take the certificate of this cell: ${(error as Error).message}`;
      this.#log.record({ outcome: 'failed', host: formatHost(host), port, via, reason });
    }
  }

  async #connectSecure(wanted: Wanted & { readonly host: Host }, tls: TlsOpener): Promise<TLSSocket> {
    const { upstream } = await this.#connect(wanted, true);
    try {
      return await tls.connect(upstream, formatHost(wanted.host));
    } catch (error) {
      throw new Unreachable(wanted.host, wanted.port, (error as Error).message);
    }
  }

  /** `tls`: where it was opened. */
  #serveHttp(stream: Duplex, wanted: Wanted, isProxy: boolean, tls?: TlsOpener): void {
    const connect = async (to: Wanted & { readonly host: Host }): Promise<Duplex> =>
      tls === undefined ? (await this.#connect(to, true)).upstream : this.#connectSecure(to, tls);
    const judged = judgedHttp(wanted, {
      isProxy,
      isSecure: tls !== undefined,
      placeholders: this.#placeholders,
      log: this.#log,
      meter: this.#meter,
      policy: () => this.#policy,
      decide: (to) => this.#decide(to),
      connect,
      serve: (tunnelled, to) => this.#serveStream(tunnelled, to),
    });
    this.#http.serve(stream, judged);
  }

  /** Judges, dials and records. */
  async #connect(wanted: Wanted & { readonly host: Host }, isRead = false): Promise<Open> {
    const { host, port, via, granted, addressee = 'nobody' } = wanted;
    const verdict = await this.#decide(wanted);
    const policy = this.#policy;
    const told = { host: formatHost(host), port, via, rule: verdict.rule };
    const begun = performance.now();
    let open: Open;
    try {
      if (!verdict.allowed) throw new Refusal(host, port, verdict);
      const { limits } = policy.rules;
      const limit =
        this.#open.spent(limits) ?? this.#dialled.reached(limits, this.#dialling + this.#open.live);
      if (limit !== undefined) throw new Refusal(host, port, { allowed: false, reason: limit });
      this.#dialling++;
      const upstream = await dial(policy, this.#lookups, host, port).finally(() => this.#dialling--);
      // The rules may have changed while it was dialled, and so may the cell have ended.
      open = { host, port, upstream, granted, isRead, addressee };
      if (this.#closed || !this.#stillAllowed(open)) {
        upstream.destroy();
        throw new Refusal(host, port, { allowed: false, reason: 'the rules changed' });
      }
    } catch (error) {
      if (error instanceof Refusal) this.#log.refused(wanted, error);
      else this.#log.record({ ...told, outcome: 'failed', reason: (error as Error).message });
      throw error;
    }
    const address = open.upstream.remoteAddress;
    this.#open.add(open, (passed) => {
      const durationMs = Math.round(performance.now() - begun);
      this.#log.record({ ...told, outcome: 'closed', address, ...passed, durationMs });
    });
    this.#log.record({ ...told, outcome: 'opened', address });
    return open;
  }

  /** Decides by the rules, and asks where they are silent and somebody can answer. */
  async #decide({ host, port, via, granted }: Wanted & { readonly host: Host }): Promise<Verdict> {
    const verdict = this.#policy.decide(host, port);
    if (verdict.allowed || !verdict.askable) return verdict;
    const place = formatAuthority(host, port);
    if (granted.has(place)) return { allowed: true, rule: 'an answer for this connection' };
    const asked = { outcome: 'asked', host: formatHost(host), port, via } as const;
    this.#log.record(asked);
    const answer = await this.#questions.ask({ host: asked.host, port }, granted);
    this.#log.record({ ...asked, answer });
    const isAllowed = answer === 'once' || answer === 'cell' || answer === 'always';
    if (isAllowed && answer !== 'once' && !this.#policy.rules.allow.includes(place))
      await this.change((rules) => ({ ...rules, allow: [...new Set([...rules.allow, place])] }));
    // A change of the rules may have denied it while the question was open.
    const now = this.#policy.decide(host, port);
    if (!now.allowed && !now.askable) return now;
    if (isAllowed) return { allowed: true, rule: `an answer: ${answer}` };
    return { allowed: false, reason: unanswered[answer] };
  }

  #stillAllowed({ host, port, upstream, granted, isRead, addressee }: Open): boolean {
    if (!isRead && this.#isRead(host, port)) return false;
    const verdict = this.#policy.decide(host, port);
    if (!verdict.allowed && !(verdict.askable && granted.has(formatAuthority(host, port)))) return false;
    if ('address' in host) return !this.#policy.judges(addressee, port);
    return mayStay(this.#policy, host.name, port, upstream);
  }

  async #refuse(stream: Duplex, wanted: Wanted, refusal: Refusal, seen?: Buffer): Promise<void> {
    this.#log.refused(wanted, refusal);
    // Only the first bytes of the program tell which protocol it understands.
    const speaksFirst = clientFirst.has(wanted.port);
    const first = seen ?? (await firstBytes(stream, isTelling, speaksFirst ? helloMs : serverFirstMs));
    if (!stream.destroyed) refuseStream(stream, first, refusal);
  }

  #failed(stream: Duplex, error: Error, first: Buffer = Buffer.alloc(0)): undefined {
    if (error instanceof Refusal || looksLikeHttp(first)) refuseStream(stream, first, error);
    else reset(stream);
    return undefined;
  }

  /** Counts bytes. Returns for how long no more may pass. */
  readonly #meter: Meter = (direction, bytes) => {
    const { limits } = this.#policy.rules;
    this.#open.meter(direction, bytes, limits);
    return this.#rates[direction].take(bytes, limits.bytesPerSecond);
  };
}
