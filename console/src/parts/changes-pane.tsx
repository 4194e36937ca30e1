/** What the agent changed: each file with its changes in order, up to the chosen moment or to the end. */
import { useState } from 'react';
import { changeQuery, hrefOf, usePlace } from '../address.js';
import { clock } from '../format.js';
import { plainPath } from '../plain-path.js';
import type { Entry, Timeline } from '../timeline.js';
import { CommandChangesCard } from './command-changes.js';
import { EntryDetails } from './entry-details.js';
import { FileAt } from './file-at.js';
import { Scrubber } from './scrubber.js';
import { Empty } from './state.js';
import { Diff, Mono } from './text.js';

const changing = new Set(['write', 'edit', 'remove', 'move', 'copy', 'make_dir', 'upload']);

interface PaneProps {
  readonly id: string;
  readonly timeline: Timeline;
  /** The cell, while it is there. */
  readonly cell?: { readonly id: string; readonly root: string } | undefined;
}

export function ChangesPane({ id, timeline, cell }: PaneProps) {
  const { query } = usePlace();
  const until = Number(query.get('at') ?? '0');
  const all = timeline.entries.filter(({ name, outcome }) => changing.has(name) && outcome === 'ok');
  const made = until === 0 ? all : all.filter(({ id: eventId }) => eventId <= until);
  const files = Map.groupBy(made, ({ action = {} }) =>
    plainPath(String(action.path ?? action.to ?? '?'), cell?.root),
  );
  if (all.length === 0 && cell === undefined)
    return (
      <Empty title="No file was changed by an action.">
        <p>What commands change by themselves is in the files of the cell.</p>
      </Empty>
    );
  return (
    <>
      <div className="page">
        <p className="hint lead">
          Files: {files.size}, changes by actions: {made.length}
          {until !== 0 && ' up to the chosen moment'}.
          {cell === undefined && ' What commands changed by themselves is not in this list.'}
        </p>
        {cell !== undefined && <CommandChangesCard cell={cell.id} root={cell.root} timeline={timeline} />}
        {[...files].map(([path, changes]) => (
          <FileChanges
            key={path}
            path={path}
            changes={changes}
            of={{ id, timeline, until, root: cell?.root }}
          />
        ))}
      </div>
      <Scrubber
        entries={all}
        index={until === 0 ? all.length - 1 : all.findLastIndex(({ id: eventId }) => eventId <= until)}
        onChoose={(entry) => changeQuery({ at: entry === undefined ? undefined : String(entry.id) })}
      />
    </>
  );
}

interface FileProps {
  readonly path: string;
  readonly changes: readonly Entry[];
  readonly of: {
    readonly id: string;
    readonly timeline: Timeline;
    readonly until: number;
    readonly root: string | undefined;
  };
}

function FileChanges({ path, changes, of: { id, timeline, until, root } }: FileProps) {
  const [whole, setWhole] = useState(false);
  return (
    <details className="card" open={changes.length < 4}>
      <summary>
        <Mono value={path} /> <span className="count">{changes.length}</span>
      </summary>
      <div className="change-of">
        <button type="button" aria-pressed={whole} onClick={() => setWhole(!whole)}>
          The whole file
        </button>
        {whole && <FileAt {...{ id, path, root, timeline }} until={until === 0 ? undefined : until} />}
      </div>
      {changes.map((change) => (
        <Change key={change.id} id={id} change={change} />
      ))}
    </details>
  );
}

function Change({ id, change }: { id: string; change: Entry }) {
  const [whole, setWhole] = useState(false);
  const { diff } = change.observation ?? {};
  const { content } = change.action ?? {};
  return (
    <div className="change-of">
      <div className="row">
        <strong>{change.name}</strong>
        <a href={hrefOf(['records', id, 'timeline'], { at: String(change.id) })}>{clock(change.at)}</a>
        {change.trimmed.length > 0 && (
          <button type="button" className="quiet" onClick={() => setWhole(!whole)}>
            {whole ? 'Less' : 'All of it'}
          </button>
        )}
      </div>
      {whole ? (
        <EntryDetails id={id} entry={change} onClose={() => setWhole(false)} />
      ) : typeof diff === 'string' ? (
        <Diff value={diff} />
      ) : typeof content === 'string' ? (
        <Diff value={asAdded(content)} />
      ) : null}
    </div>
  );
}

function asAdded(content: string): string {
  return content
    .replace(/\n$/, '')
    .split('\n')
    .map((line) => `+${line}`)
    .join('\n');
}
