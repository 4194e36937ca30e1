/** What happened, one entry for each action, connection and change of state: made from events as they come. */
import type { Decision } from '../../src/protocol/events.js';
import type { NetworkRecord } from '../../src/protocol/network/network-schema.js';
import type { BriefEvent, OutputLine } from '../../src/protocol/record-wire.js';
import { firstLine } from './visible.js';

export type Outcome = 'running' | 'waiting' | 'ok' | 'failed' | 'denied';

/** The kinds that a reader filters by. */
type Group = 'command' | 'file' | 'network' | 'state' | 'other';

export interface Entry {
  /** Of its first event. */
  readonly id: number;
  readonly at: number;
  readonly group: Group;
  readonly source: string;
  /** What it is, such as the name of the action. */
  readonly name: string;
  /** What it is about, on one line. */
  readonly title: string;
  outcome: Outcome;
  endedAt?: number;
  /** Exit code, error code, or what else says how it ended. */
  ending?: string;
  decision?: Decision;
  /** Ids of its events, without marks of progress, of which there is no end. */
  readonly events: number[];
  /** Ids of those whose texts are shortened; the record has all of them. */
  readonly trimmed: number[];
  /** What it printed so far, with escape sequences: the newest of it, while it runs and somebody may know. */
  live?: string;
  readonly action?: Readonly<Record<string, unknown>>;
  observation?: Readonly<Record<string, unknown>>;
  error?: { readonly code: string; readonly message: string };
  /** Of a connection or a checkpoint: all that its event says. */
  readonly facts?: object;
}

/** What to keep of what each of them prints. */
const mostLive = 64 * 1024;

export class Timeline {
  readonly entries: Entry[] = [];
  readonly #byAction = new Map<number, Entry>();
  readonly #whole: number;
  /** How many entries from the beginning have short texts alone. */
  #short = 0;
  /** The id of the newest event. */
  last = 0;
  ended = false;

  /** `whole`: so many of the newest entries keep their texts, and the record has those of others. Default: all. */
  constructor({ whole = Number.POSITIVE_INFINITY } = {}) {
    this.#whole = whole;
  }

  /** Takes events in order, and skips those that it already has. */
  push(events: readonly (BriefEvent | OutputLine)[]): void {
    for (const event of events) {
      if (event.kind === 'output') {
        this.#print(event);
        continue;
      }
      if (event.id <= this.last) continue;
      this.last = event.id;
      this.#take(event);
    }
    for (; this.#short < this.entries.length - this.#whole; this.#short++)
      shorten(this.entries[this.#short] as Entry);
  }

  /** The entry that an event belongs to. */
  find(eventId: number): Entry | undefined {
    let low = 0;
    let high = this.entries.length - 1;
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if ((this.entries[middle] as Entry).id <= eventId) low = middle;
      else high = middle - 1;
    }
    const before = this.entries[low];
    return before?.id === eventId ? before : this.entries.find(({ events }) => events.includes(eventId));
  }

  #take(event: BriefEvent): void {
    const { id, at, source } = event;
    const trimmed = event.trimmed === true ? [id] : [];
    const base = { id, at, source, events: [id], trimmed };
    if (event.kind === 'action') {
      const { action: name } = event.action;
      const entry: Entry = {
        ...base,
        group: groupOf(name, event.action),
        name,
        title: titleOf(event.action),
        outcome: 'running',
        action: event.action,
      };
      this.entries.push(entry);
      this.#byAction.set(id, entry);
    } else if (event.kind === 'status') {
      const { status, level, message } = event.status;
      const outcome = level === 'error' ? 'failed' : 'ok';
      this.entries.push({ ...base, group: 'state', name: wordOf(status), title: message, outcome });
      if (status === 'STOPPED') this.ended = true;
      // Everything that ran in an ended cell has ended with it.
      if (status === 'STOPPED' || status === 'ERROR_RUNTIME_DISCONNECTED') this.#endAll(at, status);
    } else if (event.kind === 'network') {
      this.entries.push({ ...base, ...networkEntry(event.network), facts: event.network });
    } else if ('cause' in event) this.#add(event);
    else {
      const { change, label, id: checkpoint = '' } = event.checkpoint;
      const title = `${change} ${label ?? checkpoint}`;
      this.entries.push({
        ...base,
        group: 'state',
        name: event.kind,
        title,
        outcome: 'ok',
        facts: event.checkpoint,
      });
    }
  }

  /** What followed from an action. */
  #add(event: Extract<BriefEvent, { cause: number }>): void {
    const entry = this.#byAction.get(event.cause);
    if (entry === undefined) return;
    if (event.kind === 'progress') return;
    entry.events.push(event.id);
    if (event.trimmed) entry.trimmed.push(event.id);
    if (event.kind === 'decision') {
      entry.decision = event.decision;
      if (event.decision.outcome === 'pending') entry.outcome = 'waiting';
      else entry.outcome = event.decision.outcome === 'deny' ? 'denied' : 'running';
      return;
    }
    delete entry.live;
    entry.endedAt = event.at;
    this.#byAction.delete(event.cause);
    if (event.kind === 'observation') {
      entry.observation = event.observation;
      Object.assign(entry, endingOf(event.observation));
    } else {
      entry.error = event.error;
      entry.ending = event.error.code;
      entry.outcome = entry.outcome === 'denied' || event.error.code === 'denied' ? 'denied' : 'failed';
    }
  }

  #print({ cause, text, skipped = 0 }: OutputLine): void {
    const entry = this.#byAction.get(cause);
    if (entry === undefined) return;
    const before = skipped > 0 ? '' : (entry.live ?? '');
    entry.live = (before + text).slice(-mostLive);
  }

  #endAll(at: number, status: string): void {
    for (const entry of this.#byAction.values()) {
      entry.outcome = 'failed';
      entry.endedAt = at;
      entry.ending = wordOf(status);
    }
    this.#byAction.clear();
  }
}

const shortText = 200;

/** Leaves of an old result what its line and a filter need; its details come from the record. */
function shorten(entry: Entry): void {
  const { group, observation, events, trimmed } = entry;
  // Those of files are the changes.
  if (observation === undefined || group === 'file') return;
  const isLong = (value: unknown) =>
    typeof value === 'string' ? value.length > shortText : typeof value === 'object' && value !== null;
  const names = Object.keys(observation).filter((name) => isLong(observation[name]));
  if (names.length === 0) return;
  const short = names.map((name) => {
    const value = observation[name];
    // A part of a text would keep all of it in memory, so make another text.
    return [name, typeof value === 'string' ? JSON.parse(JSON.stringify(value.slice(0, shortText))) : {}];
  });
  entry.observation = { ...observation, ...Object.fromEntries(short) };
  const last = events.at(-1);
  if (last !== undefined && !trimmed.includes(last)) trimmed.push(last);
}

const commands = new Set(['run', 'start_process', 'run_code', 'run_ipython', 'open_terminal', 'terminal']);

function groupOf(name: string, action: Readonly<Record<string, unknown>>): Group {
  if (commands.has(name)) return 'command';
  if (typeof action.path === 'string' || typeof action.from === 'string') return 'file';
  return typeof action.url === 'string' ? 'network' : 'other';
}

/** What an action is about: the field that a reader would name first. */
function titleOf(action: Readonly<Record<string, unknown>>): string {
  const { action: _name, ...fields } = action;
  const { command, code, argv, path, from, to, url } = fields;
  if (typeof from === 'string' && typeof to === 'string') return `${from} → ${to}`;
  if (Array.isArray(argv)) return firstLine(argv.join(' '));
  const main = [command, code, path, url].find((value) => typeof value === 'string' && value !== '');
  if (typeof main === 'string') return firstLine(main);
  const rest = Object.entries(fields).filter(([, value]) => value !== undefined);
  return rest.length === 0 ? '' : firstLine(JSON.stringify(Object.fromEntries(rest)));
}

function endingOf(
  observation: Readonly<Record<string, unknown>>,
): Pick<Entry, 'outcome'> & { ending?: string } {
  const { exitCode, signal, endedBy, status } = observation;
  if (typeof signal === 'string' && signal !== '') return { outcome: 'failed', ending: signal };
  if (typeof endedBy === 'string' && endedBy !== 'exit')
    return { outcome: endedBy === 'no-change' ? 'ok' : 'failed', ending: endedBy };
  if (typeof exitCode === 'number')
    return { outcome: exitCode === 0 ? 'ok' : 'failed', ending: `exit ${exitCode}` };
  if (status === 'error') return { outcome: 'failed', ending: 'error' };
  return { outcome: 'ok' };
}

function networkEntry(network: NetworkRecord): Pick<Entry, 'group' | 'name' | 'title' | 'outcome'> {
  if (network.outcome === 'changed')
    return { group: 'network', name: 'rules', title: 'The network rules changed.', outcome: 'ok' };
  const { outcome, host, port, reason } = network;
  const title = `${host === '' ? (network.address ?? 'unknown host') : host}:${port}`;
  return {
    group: 'network',
    name: outcome,
    title: reason === undefined ? title : `${title} (${reason})`,
    outcome: outcome === 'refused' ? 'denied' : outcome === 'failed' ? 'failed' : 'ok',
  };
}

function wordOf(status: string): string {
  return status.toLowerCase().replaceAll('_', ' ');
}
