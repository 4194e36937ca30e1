/** A repository in the cell: its branch, what is not committed, and the last commits. */
import { useState } from 'react';
import { act } from '../api.js';
import { usePolled } from '../polled.js';
import { Problem } from './state.js';
import { Block, Diff } from './text.js';

export function GitPane({ cell }: { cell: string }) {
  const [directory, setDirectory] = useState('.');
  const [typed, setTyped] = useState('.');
  // Each look is three actions in the record, so the reader decides when to look again.
  const state = usePolled(() => readAll(cell, directory), 0, `${cell} ${directory}`);
  const { status = '', diff = '', log = '' } = state.value ?? {};
  return (
    <div className="page">
      <form
        className="tools small"
        onSubmit={(event) => {
          event.preventDefault();
          if (typed === directory) state.refresh();
          else setDirectory(typed);
        }}
      >
        <h2>Repository</h2>
        <input
          className="mono"
          aria-label="Directory of the repository"
          value={typed}
          onChange={(event) => setTyped(event.target.value)}
          required
        />
        <button type="submit">Look again</button>
      </form>
      {state.problem !== undefined && <Problem text={state.problem} />}
      {state.value !== undefined && (
        <>
          <h2>Branch and status</h2>
          <Block label="Branch and status" value={status} />
          <h2>Not committed</h2>
          {diff === '' ? (
            <p className="hint">Tracked files are as in the last commit.</p>
          ) : (
            <Diff value={diff} />
          )}
          {log !== '' && (
            <>
              <h2>Last commits</h2>
              <Block label="Last commits" value={log} />
            </>
          )}
        </>
      )}
    </div>
  );
}

async function readAll(cell: string, directory: string) {
  const status = await git(cell, directory, 'status', '--short', '--branch');
  if (status.exitCode !== 0) throw new Error(status.stderr.trim() || 'git failed.');
  const [diff, log] = await Promise.all([
    git(cell, directory, 'diff', '--no-color', '--no-ext-diff', '--no-textconv', 'HEAD'),
    git(cell, directory, 'log', '--no-color', '--no-show-signature', '--oneline', '-n', '20'),
  ]);
  // A repository without a commit has neither.
  return { status: status.stdout, diff: diff.stdout, log: log.stdout };
}

interface Ended {
  readonly stdout: string;
  readonly stderr: string;
  readonly exitCode: number | null;
}

async function git(cell: string, cwd: string, ...words: string[]): Promise<Ended> {
  const argv = ['git', '--no-optional-locks', '--no-pager', ...words];
  const { id } = await act<{ id: string }>(cell, { action: 'start_process', argv, cwd, timeoutMs: 30_000 });
  return act<Ended>(cell, { action: 'wait_process', id, maxOutputBytes: 200_000 });
}
