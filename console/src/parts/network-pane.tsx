/** What the cell reached and what it could not, host by host, with the rule that decided. */
import type { NetworkEvent } from '../../../src/protocol/network/network-schema.js';
import { hrefOf } from '../address.js';
import { bytes, clock } from '../format.js';
import type { Entry, Timeline } from '../timeline.js';
import { Empty } from './state.js';
import { Mono, Plain } from './text.js';

const mostShown = 500;

export function NetworkPane({ timeline, place }: { timeline: Timeline; place: readonly string[] }) {
  const hosts = hostsOf(timeline.entries);
  if (hosts.length === 0)
    return (
      <Empty title="The record has no connection.">
        <p>It has those of cells with network rules, and what a browser opens is in the timeline.</p>
      </Empty>
    );
  return (
    <div className="page">
      <p className="hint lead">
        Hosts: {hosts.length}, connections: {sum(hosts, 'opened')}, refused: {sum(hosts, 'refused')}, sent:{' '}
        {bytes(sum(hosts, 'sent'))}, received: {bytes(sum(hosts, 'received'))}. Bytes count when a connection
        closes.
      </p>
      <table>
        <thead>
          <tr>
            <th scope="col">Decision</th>
            <th scope="col">Host</th>
            <th scope="col">Rule or reason</th>
            <th scope="col">Connections</th>
            <th scope="col">Refused</th>
            <th scope="col">Sent</th>
            <th scope="col">Received</th>
            <th scope="col">Last</th>
          </tr>
        </thead>
        <tbody>
          {hosts.slice(0, mostShown).map((host) => (
            <HostRow key={host.name} host={host} place={place} />
          ))}
        </tbody>
      </table>
      {hosts.length > mostShown && <p className="hint">{hosts.length - mostShown} more</p>}
    </div>
  );
}

interface Host {
  readonly name: string;
  decision: string;
  why: string;
  opened: number;
  refused: number;
  sent: number;
  received: number;
  last: Entry;
}

function HostRow({ host, place }: { host: Host; place: readonly string[] }) {
  const { name, decision, why, opened, refused, sent, received, last } = host;
  return (
    <tr>
      <td>
        <span className="state">
          <span className={`dot ${tones[decision] ?? 'idle'}`} aria-hidden="true" />
          {decision}
        </span>
      </td>
      <td className="who">
        <Mono value={name} />
      </td>
      <td data-name="Rule" className="who">
        {why === '' ? '–' : <Plain value={why} />}
      </td>
      <td data-name="Connections">{opened}</td>
      <td data-name="Refused">{refused}</td>
      <td data-name="Sent">{bytes(sent)}</td>
      <td data-name="Received">{bytes(received)}</td>
      <td data-name="Last">
        <a href={hrefOf([...place, 'timeline'], { at: String(last.id) })}>{clock(last.at)}</a>
      </td>
    </tr>
  );
}

const tones: Readonly<Record<string, string>> = {
  allowed: 'good',
  refused: 'bad',
  failed: 'warn',
  asked: 'busy',
};

const words = { opened: 'allowed', closed: 'allowed', refused: 'refused', failed: 'failed', asked: 'asked' };

/** The last used first. */
function hostsOf(entries: readonly Entry[]): Host[] {
  const hosts = new Map<string, Host>();
  for (const entry of entries) {
    if (entry.group !== 'network' || entry.facts === undefined || !('host' in entry.facts)) continue;
    const { outcome, host, address, port, rule, reason, sentBytes, receivedBytes, unrecorded } =
      entry.facts as NetworkEvent;
    const name = `${host === '' ? (address ?? 'unknown host') : host}:${port}`;
    const known = hosts.get(name) ?? { name, why: '', opened: 0, refused: 0, sent: 0, received: 0 };
    const found = Object.assign(known, { decision: words[outcome], last: entry });
    const times = 1 + (unrecorded ?? 0);
    if (outcome === 'opened') found.opened += times;
    if (outcome === 'refused') found.refused += times;
    found.sent += sentBytes ?? 0;
    found.received += receivedBytes ?? 0;
    found.why = rule ?? reason ?? found.why;
    hosts.delete(name);
    hosts.set(name, found);
  }
  return [...hosts.values()].reverse();
}

function sum(hosts: readonly Host[], field: 'opened' | 'refused' | 'sent' | 'received'): number {
  return hosts.reduce((total, host) => total + host[field], 0);
}
