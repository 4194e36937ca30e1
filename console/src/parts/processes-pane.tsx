/** What runs in a cell, and what it uses. */
import { useState } from 'react';
import type { ProcessInfo } from '../../../src/protocol/actions/processes.js';
import { act, reasonOf } from '../api.js';
import { age, bytes, duration } from '../format.js';
import { usePolled } from '../polled.js';
import { Empty, Problem, State } from './state.js';
import { Mono } from './text.js';
import { UseGraphs } from './use-graphs.js';

interface Session {
  readonly session: string;
  readonly cwd: string;
  readonly running: string | null;
}

export function ProcessesPane({ cell, id }: { cell: string; id: string }) {
  // Each look is an action in the record and counts as use, so the reader decides when to look again.
  const all = usePolled(() => readAll(cell), 0, cell);
  const [problem, setProblem] = useState<string>();
  const signal = (process: string, name: string) =>
    act(cell, { action: 'signal_process', id: process, signal: name }).then(all.refresh, (error: unknown) =>
      setProblem(reasonOf(error)),
    );
  const { processes = [], sessions = [], stats = {} } = all.value ?? {};
  const figures = Object.entries(stats).filter(([, value]) => typeof value === 'number');
  return (
    <div className="page">
      {(problem ?? all.problem) !== undefined && <Problem text={problem ?? all.problem ?? ''} />}
      <div className="tools small">
        <h2>Use</h2>
        <span className="space" />
        <button type="button" onClick={all.refresh}>
          Look again
        </button>
      </div>
      <UseGraphs id={id} />
      <dl className="figures">
        {figures.map(([name, value]) => (
          <div key={name}>
            <dt>{inWords(name)}</dt>
            <dd>{figure(name, value as number)}</dd>
          </div>
        ))}
      </dl>
      <h2>Shell sessions</h2>
      {sessions.length === 0 ? (
        <p className="hint">None is open.</p>
      ) : (
        <table>
          <thead>
            <tr>
              <th scope="col">Session</th>
              <th scope="col">Directory</th>
              <th scope="col">Runs</th>
            </tr>
          </thead>
          <tbody>
            {sessions.map(({ session, cwd, running }) => (
              <tr key={session}>
                <td>
                  <Mono value={session} />
                </td>
                <td data-name="Directory">
                  <Mono value={cwd} />
                </td>
                <td data-name="Runs">{running === null ? '–' : <Mono value={running.slice(0, 300)} />}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      <h2>Processes</h2>
      {processes.length === 0 ? (
        <Empty title="No action started a process in the background." />
      ) : (
        <table>
          <thead>
            <tr>
              <th scope="col">State</th>
              <th scope="col">Pid</th>
              <th scope="col">Command</th>
              <th scope="col">Age</th>
              <th scope="col">
                <span className="only-read">Signal</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {processes.map(({ id: process, pid, argv, running, startedAt, exitCode, signal: ended }) => (
              <tr key={process}>
                <td>
                  <State word={running ? 'running' : (ended ?? `exit ${exitCode}`)} />
                </td>
                <td data-name="Pid">{pid}</td>
                <td data-name="Command">
                  <Mono value={argv.join(' ').slice(0, 300)} />
                </td>
                <td data-name="Age">{age(Date.now() - startedAt)}</td>
                <td className="change">
                  {running && (
                    <span className="actions">
                      <button type="button" onClick={() => void signal(process, 'SIGTERM')}>
                        Terminate
                      </button>
                      <button
                        type="button"
                        className="danger"
                        onClick={() => void signal(process, 'SIGKILL')}
                      >
                        Kill
                      </button>
                    </span>
                  )}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </div>
  );
}

async function readAll(cell: string) {
  const [processes, sessions, stats] = await Promise.all([
    act<{ processes: ProcessInfo[] }>(cell, { action: 'list_processes' }),
    act<{ sessions: Session[] }>(cell, { action: 'list_sessions' }),
    act<Record<string, unknown>>(cell, { action: 'stats' }),
  ]);
  return { processes: processes.processes, sessions: sessions.sessions, stats };
}

function figure(name: string, value: number): string {
  if (name.endsWith('Bytes')) return bytes(value);
  return name.endsWith('Ms') ? duration(value) : String(Math.round(value * 100) / 100);
}

function inWords(name: string): string {
  return name
    .replace(/Bytes$|Ms$/, '')
    .replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)
    .trim();
}
