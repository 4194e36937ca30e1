/** Actions, and hosts that cells want to reach, which wait for a person. */
import { useState } from 'react';
import type { Question } from '../../../src/protocol/record-wire.js';
import { hrefOf } from '../address.js';
import { ask, reasonOf } from '../api.js';
import { age } from '../format.js';
import { Empty, Problem } from '../parts/state.js';
import { Block, Plain } from '../parts/text.js';
import type { Polled } from '../polled.js';

export function Questions({ questions, mayAnswer }: { questions: Polled<Question[]>; mayAnswer: boolean }) {
  const all = questions.value ?? [];
  return (
    <div className="page narrow">
      <div className="tools">
        <h1>Questions</h1>
        <span className="hint">
          Keys: A approves once, C for the cell where that is offered, D refuses the one that has the focus.
        </span>
        <span className="space" />
        <AllowNotifications />
      </div>
      {questions.problem !== undefined && <Problem text={questions.problem} />}
      {questions.value !== undefined && all.length === 0 && (
        <Empty title="Nothing waits for you.">
          <p>
            When the policy wants a person to decide about an action, or a cell wants to reach a host that no
            rule is on, it appears here.
          </p>
        </Empty>
      )}
      {all.map((question) => (
        <QuestionCard
          key={question.id}
          question={question}
          mayAnswer={mayAnswer}
          onAnswer={questions.refresh}
        />
      ))}
    </div>
  );
}

interface CardProps {
  readonly question: Question;
  readonly mayAnswer: boolean;
  readonly onAnswer: () => void;
}

function QuestionCard({ question, mayAnswer, onAnswer }: CardProps) {
  const { id, kind, cell, forCell, action, risk, reasons, askedAt, expiresAt } = question;
  const [problem, setProblem] = useState<string>();
  const [busy, setBusy] = useState(false);
  const [word, setWord] = useState('');
  const answer = async (decided: 'approve' | 'deny', scope?: 'cell') => {
    if (busy || !mayAnswer) return;
    setBusy(true);
    const said = decided === 'deny' && kind !== 'host' ? word.trim() : '';
    const body = { answer: decided, scope, ...(said !== '' && { word: said }) };
    try {
      await ask(`/v1/questions/${id}`, { method: 'POST', body });
    } catch (error) {
      setProblem(reasonOf(error));
      setBusy(false);
    }
    onAnswer();
  };
  const { action: name, command, ...fields } = action as Record<string, unknown> & { action: string };
  const rest = Object.fromEntries(Object.entries(fields).filter(changesMeaning));
  return (
    <article
      className="card"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: so that it can have the focus
      tabIndex={0}
      aria-label={`Question about ${name}`}
      onKeyDown={(event) => {
        // A key that is held down, or is for a button inside, answers nothing.
        if (event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
        if (event.target !== event.currentTarget) return;
        if (event.key === 'a') void answer('approve');
        if (event.key === 'c' && forCell === true) void answer('approve', 'cell');
        if (event.key === 'd') void answer('deny');
      }}
    >
      <div className="row">
        <strong>{name}</strong>
        <span className={`risk ${risk}`}>risk {risk}</span>
        {cell !== undefined && (
          <a href={hrefOf(['cells', cell])}>
            <Plain value={cell.slice(0, 12)} />
          </a>
        )}
        <span className="space" />
        <span className="hint">
          asked {age(Date.now() - askedAt)} ago, {age(expiresAt - Date.now())} left
        </span>
      </div>
      <Block label="What it wants to do" value={wish(question)} />
      {typeof command === 'string' && Object.keys(rest).length > 0 && (
        // Variables or a directory make another command of it, so whoever decides sees all of them.
        <Block label="With" value={JSON.stringify(rest, undefined, 2)} />
      )}
      {reasons.length > 0 && (
        <ul className="reasons">
          {reasons.map((reason) => (
            <li key={reason}>
              <Plain value={reason} />
            </li>
          ))}
        </ul>
      )}
      {problem !== undefined && <Problem text={problem} />}
      <div className="row">
        <button
          type="button"
          className="main"
          disabled={busy || !mayAnswer}
          onClick={() => void answer('approve')}
        >
          Approve once
        </button>
        {forCell === true && (
          <button
            type="button"
            title={
              kind === 'host'
                ? 'Every connection of this cell to that host and port'
                : 'This very action whenever it comes again, until a command or code runs in this cell'
            }
            disabled={busy || !mayAnswer}
            onClick={() => void answer('approve', 'cell')}
          >
            For this cell
          </button>
        )}
        <button
          type="button"
          className="danger"
          disabled={busy || !mayAnswer}
          onClick={() => void answer('deny')}
        >
          Refuse
        </button>
        {kind !== 'host' && (
          <input
            className="word"
            aria-label="A word to the agent, with a refusal"
            placeholder="Refuse with a word to the agent"
            maxLength={1000}
            value={word}
            disabled={busy || !mayAnswer}
            onChange={(event) => setWord(event.target.value)}
            onKeyDown={(event) => {
              // A held key, or one that ends the writing of a character, sends nothing.
              if (
                event.key === 'Enter' &&
                !event.repeat &&
                !event.nativeEvent.isComposing &&
                word.trim() !== ''
              )
                void answer('deny');
            }}
          />
        )}
        {!mayAnswer && <span className="hint">Answering takes a key with the role admin.</span>}
      </div>
    </article>
  );
}

/** How much to answer of the output, and the session that every action has, make no other command of it. */
function changesMeaning([name, value]: readonly [string, unknown]): boolean {
  return name !== 'maxOutputBytes' && !(name === 'session' && value === 'default');
}

function wish({ kind, action }: Question): string {
  const { action: _name, command, ...rest } = action;
  if (kind === 'host') {
    const running = Array.isArray(rest.commands)
      ? rest.commands.map((line) => `\nwhile this runs: ${line}`)
      : [];
    return `reach ${rest.host}, port ${rest.port}${running.join('')}`;
  }
  return typeof command === 'string' ? command : JSON.stringify(rest, undefined, 2);
}

function AllowNotifications() {
  const [permission, setPermission] = useState('Notification' in window ? Notification.permission : 'denied');
  if (permission !== 'default') return null;
  return (
    <button type="button" onClick={() => void Notification.requestPermission().then(setPermission)}>
      Notify me
    </button>
  );
}
