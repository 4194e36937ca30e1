import { useState } from 'react';
import { ask, reasonOf } from '../api.js';
import { Problem } from '../parts/state.js';
import { setKey } from '../session.js';

/** Asks for a key where the address brought none. */
export function SignIn({ onKey }: { onKey: (key: string) => void }) {
  const [key, change] = useState('');
  const [problem, setProblem] = useState<string>();
  const enter = async () => {
    setKey(key.trim());
    try {
      await ask('/v1/questions');
      onKey(key.trim());
    } catch (error) {
      setKey(undefined);
      setProblem(reasonOf(error));
    }
  };
  return (
    <main className="sign-in">
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void enter();
        }}
      >
        <img src="/console/icon.svg" alt="" width="36" height="36" />
        <h1>Workcell</h1>
        <label>
          Key
          <input
            type="password"
            autoComplete="off"
            value={key}
            onChange={(event) => change(event.target.value)}
            required
          />
        </label>
        <p className="hint">
          <code>workcell serve</code> prints the operator's key, and an address that brings it along.
        </p>
        {problem !== undefined && <Problem text={problem} />}
        <button type="submit" className="main">
          Open the console
        </button>
      </form>
    </main>
  );
}
