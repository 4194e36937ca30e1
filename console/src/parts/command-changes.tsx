/** The files that commands changed, found when the reader asks: no record has them. */
import { useState } from 'react';
import type { FileEntry } from '../../../src/protocol/actions/files.js';
import { hrefOf } from '../address.js';
import { act, reasonOf } from '../api.js';
import { type CommandChanges, changesOfCommands } from '../command-changes.js';
import { bytes, clock } from '../format.js';
import type { Timeline } from '../timeline.js';
import { Problem } from './state.js';
import { Mono, Plain } from './text.js';

const mostListed = 10_000;
const mostShown = 200;

interface Found {
  readonly changes: readonly CommandChanges[];
  readonly truncated: boolean;
}

export function CommandChangesCard({
  cell,
  root,
  timeline,
}: {
  cell: string;
  root: string;
  timeline: Timeline;
}) {
  const [found, setFound] = useState<Found>();
  const [problem, setProblem] = useState<string>();
  const [busy, setBusy] = useState(false);
  const look = async () => {
    setBusy(true);
    setProblem(undefined);
    try {
      const action = { action: 'list', path: root, depth: 64, limit: mostListed };
      const { entries, truncated } = await act<{ entries: FileEntry[]; truncated: boolean }>(cell, action);
      setFound({ changes: changesOfCommands(timeline.entries, entries, Date.now()), truncated });
    } catch (error) {
      setProblem(reasonOf(error));
    } finally {
      setBusy(false);
    }
  };
  return (
    <section className="card" aria-label="Changes of commands">
      <div className="row">
        <strong>What commands changed</strong>
        <span className="space" />
        <button type="button" disabled={busy} onClick={() => void look()}>
          {busy ? 'Looking…' : found === undefined ? 'Look at the files' : 'Look again'}
        </button>
      </div>
      <p className="hint">
        Each file of the workspace with the command that ran when it was last changed. What is gone left no
        trace.
      </p>
      {problem !== undefined && <Problem text={problem} />}
      {found?.changes.length === 0 && <p>No file was last changed by a command.</p>}
      {found?.truncated && (
        <p className="hint">There are more than {mostListed} files; these are the first.</p>
      )}
      {found?.changes.map(({ command, files }) => (
        <div key={command.id} className="change-of">
          <div className="row">
            <a href={hrefOf(['cells', cell, 'timeline'], { at: String(command.id) })}>{clock(command.at)}</a>
            <span className="mono grows">
              <Plain value={command.title} />
            </span>
          </div>
          <ul className="plain">
            {files.slice(0, mostShown).map((file) => (
              <li key={file.path}>
                <a href={hrefOf(['cells', cell, 'files'], { path: file.path })}>
                  <Mono value={shortOf(file.path, root)} />
                </a>{' '}
                <span className="hint num">{bytes(file.sizeBytes)}</span>
              </li>
            ))}
            {files.length > mostShown && <li className="hint">{files.length - mostShown} more</li>}
          </ul>
        </div>
      ))}
    </section>
  );
}

function shortOf(path: string, root: string): string {
  return path.startsWith(`${root}/`) ? path.slice(root.length + 1) : path;
}
