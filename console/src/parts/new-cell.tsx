import { useEffect, useRef, useState } from 'react';
import type { ServiceCell } from '../../../src/protocol/service-wire.js';
import { goTo } from '../address.js';
import { ask, reasonOf } from '../api.js';
import { Problem } from './state.js';

interface Template {
  readonly name: string;
  readonly backend: string;
}

export function NewCell({ onClose, onMade }: { onClose: () => void; onMade: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const [templates, setTemplates] = useState<Template[]>([]);
  const [template, setTemplate] = useState('default');
  const [name, setName] = useState('');
  const [problem, setProblem] = useState<string>();
  const [busy, setBusy] = useState(false);
  useEffect(() => {
    dialog.current?.showModal();
    ask<Template[]>('/v1/templates').then(setTemplates, (error) => setProblem(reasonOf(error)));
  }, []);
  const make = async () => {
    setBusy(true);
    setProblem(undefined);
    try {
      const body = { template, ...(name !== '' && { name }) };
      const cell = await ask<ServiceCell>('/v1/cells', { method: 'POST', body });
      onMade();
      goTo(['cells', cell.id]);
    } catch (error) {
      setProblem(reasonOf(error));
      setBusy(false);
    }
  };
  return (
    <dialog ref={dialog} onClose={onClose} aria-label="New cell">
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void make();
        }}
      >
        <h2>New cell</h2>
        <label>
          Template
          <select value={template} onChange={(event) => setTemplate(event.target.value)}>
            {(templates.length === 0 ? [{ name: 'default', backend: '' }] : templates).map((each) => (
              <option key={each.name} value={each.name}>
                {each.backend === '' ? each.name : `${each.name} (${each.backend})`}
              </option>
            ))}
          </select>
        </label>
        <label>
          Name <span className="hint">if it should have one</span>
          <input value={name} onChange={(event) => setName(event.target.value)} autoComplete="off" />
        </label>
        {problem !== undefined && <Problem text={problem} />}
        <div className="row end">
          <button type="button" onClick={() => dialog.current?.close()}>
            Cancel
          </button>
          <button type="submit" className="main" disabled={busy}>
            {busy ? 'Starting…' : 'Start'}
          </button>
        </div>
      </form>
    </dialog>
  );
}
