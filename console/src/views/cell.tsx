/** One cell, or one record: its timeline, and what else there is to see of it. */
import type { ServiceCell } from '../../../src/protocol/service-wire.js';
import { hrefOf, usePlace } from '../address.js';
import { ask, cellPath } from '../api.js';
import { useRecord } from '../follow.js';
import { BrowserPane } from '../parts/browser-pane.js';
import { CellActions } from '../parts/cell-actions.js';
import { ChangesPane } from '../parts/changes-pane.js';
import { ExportMenu } from '../parts/export-menu.js';
import { FilesPane } from '../parts/files-pane.js';
import { GitPane } from '../parts/git-pane.js';
import { IsolationPane } from '../parts/isolation-pane.js';
import { NetworkPane } from '../parts/network-pane.js';
import { PortsPane } from '../parts/ports-pane.js';
import { ProcessesPane } from '../parts/processes-pane.js';
import { Problem, State } from '../parts/state.js';
import { TerminalPane } from '../parts/terminal-pane.js';
import { Plain } from '../parts/text.js';
import { TimelinePane } from '../parts/timeline-pane.js';
import { TranscriptPane } from '../parts/transcript-pane.js';
import { usePolled } from '../polled.js';

const recordTabs = ['timeline', 'changes', 'transcript', 'network', 'browser'] as const;
const cellTabs = [...recordTabs, 'terminal', 'files', 'git', 'processes', 'ports', 'isolation'] as const;

type Tab = (typeof cellTabs)[number];

export function CellView({
  id,
  tab = 'timeline',
  live,
}: {
  id: string;
  tab: string | undefined;
  live: boolean;
}) {
  const cell = usePolled(
    () => (live ? ask<ServiceCell>(cellPath(id)) : Promise.resolve(undefined)),
    2000,
    id,
  );
  const shown = cell.value;
  const { query } = usePlace();
  const record = useRecord(live ? (shown?.id ?? id) : id, Number(query.get('at') ?? '0'));
  const tabs: readonly Tab[] = live ? cellTabs : recordTabs;
  const { state, read } = record;
  return (
    <div className="cell">
      <div className="tools">
        <a className="back" href={hrefOf([live ? 'cells' : 'records'])} aria-label="Back to the list">
          ←
        </a>
        <h1>
          <Plain value={shown?.name ?? id.slice(0, 20)} />
        </h1>
        {shown !== undefined && <State word={shown.state} />}
        {shown !== undefined && (
          <span className="hint wide-only">
            {[shown.template, shown.backend, shown.isolation].filter(Boolean).join(' · ')}
          </span>
        )}
        {typeof state === 'string' && state !== 'live' && <State word={state} />}
        <span className="space" />
        <ExportMenu id={shown?.id ?? id} />
        {shown !== undefined && <CellActions cell={shown} onChange={cell.refresh} />}
      </div>
      {cell.problem !== undefined && <Problem text={cell.problem} />}
      {typeof state === 'object' && <Problem text={state.failed} />}
      {read !== undefined && typeof state === 'string' && (
        <p className="reading">
          <progress value={read} aria-label="How much of the record is here" /> A part of a long record; the
          rest is coming.
        </p>
      )}
      <nav className="tabs" aria-label="Of this cell">
        {tabs.map((name) => (
          <a
            key={name}
            href={hrefOf([live ? 'cells' : 'records', id, name])}
            aria-current={name === tab ? 'page' : undefined}
          >
            {name}
          </a>
        ))}
      </nav>
      {tab === 'changes' ? (
        <ChangesPane
          id={shown?.id ?? id}
          timeline={record.timeline}
          cell={live && shown?.workspace !== undefined ? { id, root: shown.workspace } : undefined}
        />
      ) : tab === 'transcript' ? (
        <TranscriptPane timeline={record.timeline} />
      ) : tab === 'network' ? (
        <NetworkPane timeline={record.timeline} place={[live ? 'cells' : 'records', id]} />
      ) : tab === 'browser' ? (
        <BrowserPane id={shown?.id ?? id} timeline={record.timeline} />
      ) : tab === 'git' && live ? (
        <GitPane cell={id} />
      ) : tab === 'terminal' && live ? (
        <TerminalPane cell={id} />
      ) : tab === 'files' && live ? (
        <FilesPane cell={id} root={shown?.workspace} />
      ) : tab === 'processes' && live ? (
        <ProcessesPane cell={id} id={shown?.id ?? id} />
      ) : tab === 'ports' && live ? (
        <PortsPane cell={id} />
      ) : tab === 'isolation' && live ? (
        <IsolationPane cell={id} />
      ) : (
        <TimelinePane id={shown?.id ?? id} record={record} />
      )}
    </div>
  );
}
