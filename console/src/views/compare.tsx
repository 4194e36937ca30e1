/** Two runs side by side: what both did, what came out differently, and what only one did. */
import { useState } from 'react';
import type { RecordPage } from '../../../src/protocol/record-wire.js';
import { changeQuery, hrefOf, usePlace } from '../address.js';
import { align, differs, type Pair } from '../align.js';
import { ask } from '../api.js';
import { duration } from '../format.js';
import { EntryDetails } from '../parts/entry-details.js';
import { Empty, OutcomeDot, Problem } from '../parts/state.js';
import { Plain } from '../parts/text.js';
import { VirtualList } from '../parts/virtual-list.js';
import { usePolled } from '../polled.js';
import { type Entry, Timeline } from '../timeline.js';

export function Compare({ before, after }: { before: string; after: string }) {
  const { query } = usePlace();
  const pairs = usePolled(() => readPairs(before, after), 0, `${before} ${after}`);
  const [chosen, setChosen] = useState(-1);
  const only = query.get('only') === 'differences';
  const all = pairs.value?.pairs ?? [];
  const count = all.filter(differs).length;
  const shown = only ? all.filter(differs) : all;
  const pair = shown[chosen];
  return (
    <div className="cell">
      <div className="tools">
        <a className="back" href={hrefOf(['records'])} aria-label="Back to the list">
          ←
        </a>
        <h1>
          <Plain value={before.slice(0, 20)} /> → <Plain value={after.slice(0, 20)} />
        </h1>
        <span className="hint">{pairs.value !== undefined && `${count} of ${all.length} differ`}</span>
        <span className="space" />
        <button
          type="button"
          aria-pressed={only}
          onClick={() => {
            setChosen(-1);
            changeQuery({ only: only ? undefined : 'differences' });
          }}
        >
          Only what differs
        </button>
      </div>
      {pairs.problem !== undefined && <Problem text={pairs.problem} />}
      {pairs.value?.cut && (
        <p className="hint lead">Only the first {mostEntries} actions of each are compared.</p>
      )}
      {pairs.value !== undefined && shown.length === 0 ? (
        <Empty title={all.length === 0 ? 'There is no action to compare.' : 'Both runs went the same way.'} />
      ) : (
        <VirtualList
          count={shown.length}
          rowHeight={30}
          label="Both runs"
          chosen={chosen}
          onChoose={setChosen}
        >
          {(index) => <Line pair={shown[index] as Pair} />}
        </VirtualList>
      )}
      {pair !== undefined && (
        <div className="both">
          <Side id={before} entry={pair.before} onClose={() => setChosen(-1)} />
          <Side id={after} entry={pair.after} onClose={() => setChosen(-1)} />
        </div>
      )}
    </div>
  );
}

function Side({ id, entry, onClose }: { id: string; entry: Entry | undefined; onClose: () => void }) {
  return (
    <section aria-label={`In ${id}`}>
      {entry === undefined ? (
        <Empty title="This run did not do it." />
      ) : (
        <EntryDetails key={entry.id} id={id} entry={entry} onClose={onClose} />
      )}
    </section>
  );
}

function Line({ pair }: { pair: Pair }) {
  const { before, after } = pair;
  const entry = (before ?? after) as Entry;
  const word = before === undefined ? 'only after' : after === undefined ? 'only before' : '';
  return (
    <>
      <OutcomeDot outcome={(after ?? entry).outcome} />
      <span className="num">{word !== '' ? word : differs(pair) ? 'differs' : 'same'}</span>
      <span className={`name ${entry.group}`}>
        <Plain value={entry.name} />
      </span>
      <span className="title mono">
        <Plain value={entry.title} />
      </span>
      <span className="ending">
        <Plain value={[before, after].flatMap((each) => each?.ending ?? []).join(' → ')} />
      </span>
      <span className="num took">{[before, after].flatMap(tookOf).join(' → ')}</span>
    </>
  );
}

function tookOf(entry: Entry | undefined): string[] {
  return entry?.endedAt === undefined ? [] : [duration(entry.endedAt - entry.at)];
}

const mostEntries = 1500;
/** Of each record. */
const mostPages = 30;

async function readPairs(before: string, after: string): Promise<{ pairs: Pair[]; cut: boolean }> {
  const [left, right] = await Promise.all([readEntries(before), readEntries(after)]);
  const cut = left.length > mostEntries || right.length > mostEntries;
  return { pairs: align(left.slice(0, mostEntries), right.slice(0, mostEntries)), cut };
}

async function readEntries(id: string): Promise<Entry[]> {
  const timeline = new Timeline();
  let after: number | undefined = 0;
  for (let page = 0; after !== undefined && page < mostPages; page++) {
    const next: RecordPage = await ask(
      `/v1/records/${encodeURIComponent(id)}?brief=1&limit=1000&after=${after}`,
    );
    timeline.push(next.events);
    after = next.next;
  }
  return timeline.entries.filter(({ action }) => action !== undefined);
}
