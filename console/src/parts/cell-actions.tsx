import { useState } from 'react';
import type { ServiceCell } from '../../../src/protocol/service-wire.js';
import { ask, cellPath, reasonOf } from '../api.js';

const hourMs = 3_600_000;

/** Pause, resume, extend and end. Ending asks once more, in place. */
export function CellActions({ cell, onChange }: { cell: ServiceCell; onChange: () => void }) {
  const [sure, setSure] = useState(false);
  const [problem, setProblem] = useState<string>();
  const [busy, setBusy] = useState(false);
  const path = cellPath(cell.id);
  const change = async (method: string, to: string, body?: object) => {
    setBusy(true);
    setProblem(undefined);
    try {
      await ask(to, { method, ...(body !== undefined && { body }) });
    } catch (error) {
      setProblem(reasonOf(error));
    } finally {
      setBusy(false);
      setSure(false);
      onChange();
    }
  };
  return (
    <span className="actions">
      {problem !== undefined && (
        <span className="trouble" role="alert" title={problem}>
          {problem}
        </span>
      )}
      {cell.state === 'running' && (
        <button type="button" disabled={busy} onClick={() => void change('POST', `${path}/pause`)}>
          Pause
        </button>
      )}
      {cell.state === 'paused' && (
        <button type="button" disabled={busy} onClick={() => void change('POST', `${path}/resume`)}>
          Resume
        </button>
      )}
      {cell.expiresAt !== undefined && cell.state !== 'lost' && (
        <button
          type="button"
          disabled={busy}
          title={`It ends at ${new Date(cell.expiresAt).toLocaleString()}.`}
          onClick={() =>
            void change('PATCH', path, { ttlMs: Date.parse(cell.expiresAt as string) - Date.now() + hourMs })
          }
        >
          +1 h
        </button>
      )}
      {sure ? (
        <>
          <button
            type="button"
            className="danger"
            disabled={busy}
            onClick={() => void change('DELETE', path)}
          >
            End it
          </button>
          <button type="button" onClick={() => setSure(false)}>
            Keep
          </button>
        </>
      ) : (
        <button type="button" disabled={busy} onClick={() => setSure(true)}>
          End
        </button>
      )}
    </span>
  );
}
