/** The frame of all views: where you are, what waits for you, and whether the service answers. */
import { useEffect, useState } from 'react';
import type { ConsoleInfo, Question } from '../../src/protocol/record-wire.js';
import { type KeyRole, keyRoles } from '../../src/protocol/service-wire.js';
import { goTo, hrefOf, usePlace } from './address.js';
import { ask } from './api.js';
import { usePolled } from './polled.js';
import { currentKey, setKey } from './session.js';
import { CellView } from './views/cell.js';
import { Compare } from './views/compare.js';
import { Overview } from './views/overview.js';
import { Questions } from './views/questions.js';
import { RecordList } from './views/records.js';
import { SignIn } from './views/sign-in.js';
import { visible } from './visible.js';

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
  const info = usePolled(() => ask<ConsoleInfo>('/v1/console'), 30_000, 'info').value;
  const hasCells = info?.cells !== false;
  const [view = hasCells ? 'cells' : 'records', id, tab] = path;
  const questions = usePolled(() => ask<Question[]>('/v1/questions'), 2000, 'questions', {
    whileHidden: true,
  });
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
          {hasCells && (
            <Tab to="cells" view={view}>
              Cells
            </Tab>
          )}
          <Tab to="records" view={view}>
            Records
          </Tab>
          <Tab to="questions" view={view} label={waiting > 0 ? `Questions, ${waiting} waiting` : undefined}>
            Questions
            {waiting > 0 && <span className="badge">{waiting}</span>}
          </Tab>
        </nav>
        <span className="only-read" role="status">
          {waiting > 0 && `${waiting} actions wait for your answer`}
        </span>
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
          <Questions questions={questions} mayAnswer={isAtLeast(info, 'admin')} />
        ) : view === 'compare' && id !== undefined && tab !== undefined ? (
          <Compare key={`${id} ${tab}`} before={id} after={tab} />
        ) : view === 'records' && id === undefined ? (
          <RecordList />
        ) : id !== undefined ? (
          <CellView key={id} id={id} tab={tab} live={view === 'cells' && hasCells} />
        ) : info === undefined ? null : (
          <Overview everyone={info?.role === 'operator'} mayMake={isAtLeast(info, 'user')} />
        )}
      </main>
    </>
  );
}

/** Until the service has said so, nothing is offered that it may refuse. */
function isAtLeast(info: ConsoleInfo | undefined, role: KeyRole): boolean {
  return info !== undefined && keyRoles.indexOf(info.role) <= keyRoles.indexOf(role);
}

interface TabProps {
  readonly to: string;
  readonly view: string;
  readonly label?: string | undefined;
  readonly children: React.ReactNode;
}

function Tab({ to, view, label, children }: TabProps) {
  return (
    <a href={hrefOf([to])} aria-label={label} aria-current={view === to ? 'page' : undefined}>
      {children}
    </a>
  );
}

/** One for each question that comes behind other pages, once the reader has allowed them on the page of questions. */
function useNotification(questions: readonly Question[]): void {
  const [told] = useState(() => new Set<string>());
  useEffect(() => {
    const open = new Set(questions.map(({ id }) => id));
    for (const id of told) if (!open.has(id)) told.delete(id);
    for (const { id, action } of questions) {
      if (told.has(id)) continue;
      told.add(id);
      if ('Notification' in window && Notification.permission === 'granted' && document.hidden) {
        const shown = new Notification('An action waits for your answer', {
          body: visible(action.action),
          tag: id,
        });
        shown.onclick = () => {
          window.focus();
          goTo(['questions']);
        };
      }
    }
  }, [questions, told]);
}
