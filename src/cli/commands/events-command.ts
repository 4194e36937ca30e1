import { Command, InvalidArgumentError, Option } from 'commander';
import type { WorkcellEvent } from '../../protocol/index.js';
import type { EventFilter, EventStore } from '../../runtime/events/event-store.js';
import { withConfigOption } from '../cell-options.js';
import { watchInterrupts } from '../interrupts.js';
import { plainText } from '../sanitize.js';

interface EventsOptions {
  follow?: true;
  json?: true;
  store?: string;
  config?: string | false;
  since: number;
  kind?: WorkcellEvent['kind'][];
  source?: WorkcellEvent['source'][];
  from?: number;
  until?: number;
  text?: string;
  pending?: true;
  approve?: string;
  deny?: string;
  who?: string;
  scope?: 'once' | 'cell' | 'always';
}

const examples = `
Without a runtime it lists those in the store, the newest first. Name a runtime
by its id, by the beginning of it, or as "last".

Examples:
  $ workcell events
  $ workcell events last
  $ workcell events 3f9a --kind action observation --text 'npm test'
  $ workcell events last --follow --json | jq -r .kind
  $ workcell events --pending
  $ workcell events --approve 3f9a2c51d0e4b7a8`;

const pageEvents = 500;

/** `workcell events`: what happened in a runtime, from the store. */
export function eventsCommand(): Command {
  return withConfigOption(
    new Command('events')
      .description('Show what happened in a runtime')
      .argument('[runtime]', 'runtime: an id, the beginning of one, or last')
      .option('-f, --follow', 'print new events too, until the runtime stops')
      .option('--json', 'print one line of JSON for each')
      .option('--store <store>', 'event store (default: as configured)')
      .option('--pending', 'show the actions and hosts that wait for your answer')
      .option('--approve <id>', 'let a waiting action run, or the cell reach a host')
      .option('--deny <id>', 'refuse it')
      .option('--who <name>', 'who decides (default: your user name)')
      .option('--since <id>', 'only events after this one', parseId, 0),
  )
    .addOption(
      new Option('--kind <kinds...>', 'only these kinds').choices([
        'action',
        'decision',
        'observation',
        'progress',
        'error',
        'status',
        'network',
        'checkpoint',
      ]),
    )
    .addOption(
      new Option('--source <sources...>', 'only from these').choices(['agent', 'user', 'environment']),
    )
    .addOption(
      new Option(
        '--scope <scope>',
        'with --approve: what it holds for (default: once); always is for hosts',
      ).choices(['once', 'cell', 'always']),
    )
    .option('--from <time>', 'only since a time, such as 2026-01-31T08:00', parseTime)
    .option('--until <time>', 'only before a time', parseTime)
    .option('--text <text>', 'only with this text in them')
    .addHelpText('after', examples)
    .action(events);
}

async function events(runtime: string | undefined, options: EventsOptions): Promise<void> {
  if (options.pending || options.approve !== undefined || options.deny !== undefined) {
    const { confirmations } = await import('./confirmations-command.js');
    return confirmations(await storeName(options), options);
  }
  const store = await openStore(options);
  try {
    if (runtime === undefined) await list(store, options);
    else await show(store, await find(store, runtime), options);
  } finally {
    await store.close();
  }
}

async function openStore(options: EventsOptions): Promise<EventStore> {
  const { openEventStore } = await import('../../runtime/events/open.js');
  return openEventStore(await storeName(options));
}

async function storeName({ store, config: file }: EventsOptions): Promise<string | undefined> {
  const { loadConfig } = await import('../../config/load-config.js');
  const { values } = await loadConfig({
    cwd: process.cwd(),
    env: process.env,
    file,
    overrides: { 'events.store': store },
  });
  return values.events.store;
}

async function list(store: EventStore, { json }: EventsOptions): Promise<void> {
  const { formatTable } = await import('../text-table.js');
  const runtimes = await store.runtimes();
  if (json) {
    for (const runtime of runtimes) process.stdout.write(`${JSON.stringify(runtime)}\n`);
    return;
  }
  if (runtimes.length === 0) {
    process.stdout.write(`There are no events in ${store.name}.\n`);
    return;
  }
  const rows = runtimes.map(({ runtimeId, firstAt, lastAt, firstId, lastId }) => [
    plainText(runtimeId),
    time(firstAt),
    time(lastAt),
    String(lastId - firstId + 1),
  ]);
  process.stdout.write(`${formatTable(['RUNTIME', 'FIRST', 'LAST', 'EVENTS'], rows)}\n`);
}

async function find(store: EventStore, named: string): Promise<string> {
  const { WorkcellError } = await import('../../protocol/errors.js');
  const ids = (await store.runtimes()).map(({ runtimeId }) => runtimeId);
  const found = named === 'last' ? ids.slice(0, 1) : ids.filter((id) => id.startsWith(named));
  const exact = found.find((id) => id === named) ?? (found.length === 1 ? found[0] : undefined);
  if (exact !== undefined) return exact;
  const problem =
    found.length === 0
      ? `has no events of a runtime ${named}`
      : `has several runtimes that begin with ${named}`;
  throw new WorkcellError('not-found', `${store.name} ${problem}; "workcell events" lists those it has.`, {
    details: { runtime: named, store: store.name },
  });
}

async function show(store: EventStore, runtimeId: string, options: EventsOptions): Promise<void> {
  const { follow, since, json, kind: kinds, source: sources, from, until, text } = options;
  const filter: EventFilter = { kinds, sources, from, until, text };
  const print = (event: WorkcellEvent) =>
    process.stdout.write(`${json ? JSON.stringify(event) : line(event)}\n`);
  if (follow) {
    const { follow: followEvents } = await import('../../runtime/events/follow-events.js');
    using interrupts = watchInterrupts();
    const { signal } = interrupts;
    for await (const event of followEvents(store, runtimeId, { cursor: since, signal, ...filter }))
      print(event);
    process.exitCode = interrupts.exitCode() ?? 0;
    return;
  }
  for (let after = since; ; ) {
    const page = await store.read(runtimeId, { after, limit: pageEvents, ...filter });
    for (const event of page) print(event);
    after = page.at(-1)?.id ?? after;
    if (page.length < pageEvents) return;
  }
}

/** One event on one line, for a person. */
function line(event: WorkcellEvent): string {
  const cause = 'cause' in event ? ` ←${event.cause}` : '';
  const head = `${String(event.id).padStart(5)}  ${time(event.at)}  ${event.source.padEnd(11)}  ${event.kind}${cause}`;
  return `${head}  ${shorten(plainText(summary(event)))}`;
}

function summary(event: WorkcellEvent): string {
  if (event.kind === 'status') return `${event.status.status}: ${event.status.message}`;
  if (event.kind === 'error') return `${event.error.code}: ${event.error.message}`;
  if (event.kind === 'progress') return `${event.progress.outputBytes} bytes of output so far`;
  if (event.kind === 'decision') {
    const { outcome, by, risk, reasons } = event.decision;
    return [`${outcome} (${by}, risk ${risk})`, ...reasons].join(' ');
  }
  if (event.kind === 'network') return networkSummary(event.network);
  if (event.kind === 'checkpoint') {
    const { change, ...details } = event.checkpoint;
    return [change, ...Object.entries(details).map(([name, value]) => `${name}=${value}`)].join(' ');
  }
  const { action, observation, ...fields } = (
    event.kind === 'action' ? event.action : event.observation
  ) as Record<string, unknown>;
  const { command, output, ...rest } = fields;
  const main = event.kind === 'action' ? command : output;
  return [action ?? observation, typeof main === 'string' ? main : JSON.stringify(rest)].join(' ');
}

function networkSummary(network: Extract<WorkcellEvent, { kind: 'network' }>['network']): string {
  if (network.outcome === 'changed') return `rules changed: ${JSON.stringify(network.rules)}`;
  const { outcome, host, port, reason, sentBytes, receivedBytes } = network;
  const bytes = sentBytes === undefined ? [] : [`(${sentBytes} bytes sent, ${receivedBytes} received)`];
  return [outcome, `${host}:${port}`, ...bytes, ...(reason === undefined ? [] : [reason])].join(' ');
}

function shorten(text: string): string {
  const oneLine = text.replace(/\s+/g, ' ').trim();
  return oneLine.length > 160 ? `${oneLine.slice(0, 159)}…` : oneLine;
}

function time(at: number): string {
  return new Date(at).toISOString().replace('T', ' ').slice(0, 19);
}

function parseId(text: string): number {
  if (!/^\d{1,15}$/.test(text)) throw new InvalidArgumentError('Give the id of an event, a whole number.');
  return Number(text);
}

function parseTime(text: string): number {
  const at = Date.parse(text);
  if (Number.isNaN(at)) throw new InvalidArgumentError('Give a time such as 2026-01-31T08:00.');
  return at;
}
