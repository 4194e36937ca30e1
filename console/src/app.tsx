/** The frame of all views: where you are, what waits for you, and whether the service answers. */
import { useEffect, useState } from 'react';
import type { Question } from '../../src/protocol/record-wire.js';
import { hrefOf, usePlace } from './address.js';
import { ask } from './api.js';
import { usePolled } from './polled.js';
import { currentKey, setKey } from './session.js';
import { CellView } from './views/cell.js';
import { Overview } from './views/overview.js';
import { Questions } from './views/questions.js';
import { RecordList } from './views/records.js';
import { SignIn } from './views/sign-in.js';

export function App() {
  const [key, change] = useState(currentKey);
  const use = (next: string | undefined) => {
    setKey(next);
    change(next);
  };
  return key === undefined ? <SignIn onKey={use} /> : <Frame key={key} onLeave={() => use(undefined)} />;
}

function Frame({ onLeave }: { onLeave: () => void }) {
  const { path } = usePlace();
  const [view = 'cells', id, tab] = path;
  const questions = usePolled(() => ask<Question[]>('/v1/questions'), 2000, 'questions');
  const waiting = questions.value?.length ?? 0;
  useNotification(questions.value ?? []);
  useEffect(() => {
    document.title = waiting > 0 ? `(${waiting}) Workcell` : 'Workcell';
  }, [waiting]);
  return (
    <>
      <header className="bar">
        <a className="brand" href={hrefOf(['cells'])}>
          <img src="/console/icon.svg" alt="" width="20" height="20" />
          Workcell
        </a>
        <nav aria-label="Views">
          <Tab to="cells" view={view}>
            Cells
          </Tab>
          <Tab to="records" view={view}>
            Records
          </Tab>
          <Tab to="questions" view={view}>
            Questions
            {waiting > 0 && (
              <span className="badge" role="status">
                {waiting}
                <span className="only-read"> waiting</span>
              </span>
            )}
          </Tab>
        </nav>
        <span className="space" />
        {questions.problem !== undefined && (
          <span className="trouble" role="status" title={questions.problem}>
            Not connected
          </span>
        )}
        <button type="button" className="quiet" onClick={onLeave}>
          Sign out
        </button>
      </header>
      <main>
        {view === 'questions' ? (
          <Questions questions={questions} />
        ) : view === 'records' && id === undefined ? (
          <RecordList />
        ) : id !== undefined ? (
          <CellView key={id} id={id} tab={tab} live={view === 'cells'} />
        ) : (
          <Overview />
        )}
      </main>
    </>
  );
}

function Tab({ to, view, children }: { to: string; view: string; children: React.ReactNode }) {
  return (
    <a href={hrefOf([to])} aria-current={view === to ? 'page' : undefined}>
      {children}
    </a>
  );
}

/** One for each question, once the reader has allowed them on the page of questions. */
function useNotification(questions: readonly Question[]): void {
  const [told] = useState(() => new Set<string>());
  useEffect(() => {
    for (const { id, action } of questions) {
      if (told.has(id)) continue;
      told.add(id);
      if ('Notification' in window && Notification.permission === 'granted' && document.hidden)
        new Notification('An action waits for your answer', { body: action.action, tag: id });
    }
  }, [questions, told]);
}
