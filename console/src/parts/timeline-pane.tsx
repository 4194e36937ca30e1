/** The timeline beside what the reader chose of it. */
import { useEffect, useState } from 'react';
import type { RecordPage } from '../../../src/protocol/record-wire.js';
import { changeQuery, usePlace } from '../address.js';
import { ask, reasonOf } from '../api.js';
import type { Followed } from '../follow.js';
import { clock, duration } from '../format.js';
import type { Entry } from '../timeline.js';
import { EntryDetails } from './entry-details.js';
import { Scrubber } from './scrubber.js';
import { Empty, OutcomeDot, Problem } from './state.js';
import { Plain } from './text.js';
import { VirtualList } from './virtual-list.js';

const filters: Readonly<Record<string, (entry: Entry) => boolean>> = {
  all: () => true,
  commands: ({ group }) => group === 'command',
  files: ({ group }) => group === 'file',
  network: ({ group }) => group === 'network',
  problems: ({ outcome }) => outcome === 'failed' || outcome === 'denied' || outcome === 'waiting',
};

export function TimelinePane({ id, record: { timeline, state, read } }: { id: string; record: Followed }) {
  const { query } = usePlace();
  const only = query.get('only') ?? 'all';
  const text = query.get('text') ?? '';
  const at = Number(query.get('at') ?? '0');
  const search = useSearch(id, text, timeline.last);
  const fits = filters[only] ?? (() => true);
  const plain = only === 'all' && text === '';
  const shown = plain
    ? timeline.entries
    : timeline.entries.filter((entry) => fits(entry) && (text === '' || hasText(entry, text, search.found)));
  const chosen = at === 0 ? undefined : timeline.find(at);
  const index = chosen === undefined ? -1 : shown.indexOf(chosen);
  const choose = (entry: Entry | undefined) =>
    changeQuery({ at: entry === undefined ? undefined : String(entry.id) });
  return (
    <div className={`split ${chosen === undefined ? '' : 'has-choice'}`}>
      <section className="left" aria-label="Timeline">
        <div className="tools small">
          <fieldset className="chips">
            <legend className="only-read">Show</legend>
            {Object.keys(filters).map((name) => (
              <button
                key={name}
                type="button"
                aria-pressed={only === name}
                onClick={() => changeQuery({ only: name === 'all' ? undefined : name })}
              >
                {name}
                {name === 'problems' && (
                  <Count of={timeline.entries.filter(filters.problems ?? (() => false)).length} />
                )}
              </button>
            ))}
          </fieldset>
          <span className="space" />
          <input
            type="search"
            placeholder="Commands, output, files, hosts"
            aria-label="Search the record"
            value={text}
            onChange={(event) => changeQuery({ text: event.target.value })}
          />
        </div>
        {search.problem !== undefined && <Problem text={search.problem} />}
        {search.hasMore && search.found.size >= mostFound && (
          <p className="hint">There is more than the search shows. Look for something rarer.</p>
        )}
        {shown.length === 0 && state !== 'loading' ? (
          <Empty title={timeline.entries.length === 0 ? 'Nothing happened yet.' : 'Nothing fits.'} />
        ) : (
          <VirtualList
            count={shown.length}
            rowHeight={30}
            label="What happened"
            chosen={index}
            onChoose={(next) => choose(shown[next])}
            sticky={chosen === undefined}
            idOf={(position) => shown[position]?.id}
          >
            {(position) => <Line entry={shown[position] as Entry} />}
          </VirtualList>
        )}
        {read === undefined && <Scrubber entries={shown} index={index} onChoose={choose} />}
      </section>
      <section className="right" aria-label="Details">
        {chosen === undefined ? (
          <Empty title="Choose a line to see what happened there.">
            <p>
              <kbd>↑</kbd> <kbd>↓</kbd> move from one to the next.
            </p>
          </Empty>
        ) : (
          <EntryDetails key={chosen.id} id={id} entry={chosen} onClose={() => choose(undefined)} />
        )}
      </section>
    </div>
  );
}

function Count({ of }: { of: number }) {
  return of === 0 ? null : <span className="count">{of}</span>;
}

function Line({ entry }: { entry: Entry }) {
  const { at, endedAt, name, title, outcome, ending, group } = entry;
  return (
    <>
      <OutcomeDot outcome={outcome} />
      <time className="num">{clock(at)}</time>
      <span className={`name ${group}`}>
        <Plain value={name} />
      </span>
      <span className="title mono">
        <Plain value={title} />
      </span>
      <span className="ending">
        {ending !== undefined && ending !== 'exit 0' && <Plain value={ending} />}
      </span>
      <span className="num took">{endedAt !== undefined && duration(endedAt - at)}</span>
    </>
  );
}

interface Search {
  /** Ids of events that have the text; the service looks through whole outputs. */
  readonly found: ReadonlySet<number>;
  /** Whether the record has more of them than a search looks for. */
  readonly hasMore: boolean;
  readonly problem: string | undefined;
}

const noSearch: Search = { found: new Set(), hasMore: false, problem: undefined };
const pauseMs = 150;
const pageLimit = 1000;
const mostFound = 5000;

function useSearch(id: string, text: string, last: number): Search {
  const [search, setSearch] = useState(noSearch);
  // Search newer events here, and ask the service again only when the text changes.
  const isThere = last > 0;
  useEffect(() => {
    setSearch(noSearch);
    if (text === '' || !isThere) return;
    const left = new AbortController();
    const timer = window.setTimeout(() => {
      readMatches({ id, text, signal: left.signal, onFound: setSearch }).catch((error: unknown) => {
        if (!left.signal.aborted) setSearch({ ...noSearch, problem: reasonOf(error) });
      });
    }, pauseMs);
    return () => {
      window.clearTimeout(timer);
      left.abort();
    };
  }, [id, text, isThere]);
  return search;
}

interface Wanted {
  readonly id: string;
  readonly text: string;
  readonly signal: AbortSignal;
  readonly onFound: (search: Search) => void;
}

/** A page ends early where its events are large, so what is found comes in several. */
async function readMatches({ id, text, signal, onFound }: Wanted): Promise<void> {
  const found = new Set<number>();
  let after: number | undefined = 0;
  while (after !== undefined && found.size < mostFound) {
    const query = new URLSearchParams({ text, brief: '1', limit: `${pageLimit}`, after: `${after}` });
    const path = `/v1/records/${encodeURIComponent(id)}?${query}`;
    const page: RecordPage = await ask<RecordPage>(path, { signal });
    for (const event of page.events) found.add(event.id);
    after = page.next;
    onFound({ found: new Set(found), hasMore: after !== undefined, problem: undefined });
  }
}

function hasText(
  { title, name, events, ending = '' }: Entry,
  text: string,
  found: ReadonlySet<number>,
): boolean {
  const wanted = text.toLowerCase();
  return (
    events.some((event) => found.has(event)) ||
    [title, name, ending].some((word) => word.toLowerCase().includes(wanted))
  );
}
