/** How something is, in one word and one colour. */
import type { Outcome } from '../timeline.js';
import { Plain } from './text.js';

const outcomes: Readonly<Record<Outcome, readonly [tone: string, word: string]>> = {
  running: ['busy', 'running'],
  waiting: ['warn', 'waits for you'],
  ok: ['good', 'ok'],
  failed: ['bad', 'failed'],
  denied: ['bad', 'denied'],
};

export function OutcomeDot({ outcome }: { outcome: Outcome }) {
  const [tone, word] = outcomes[outcome];
  return (
    <span className={`dot ${tone}`} title={word}>
      <span className="only-read">{word}</span>
    </span>
  );
}

const tones: Readonly<Record<string, string>> = {
  running: 'good',
  starting: 'busy',
  paused: 'idle',
  lost: 'bad',
  live: 'good',
  loading: 'busy',
  reconnecting: 'warn',
  ended: 'idle',
};

export function State({ word }: { word: string }) {
  return (
    <span className="state">
      <span className={`dot ${tones[word] ?? 'idle'}`} aria-hidden="true" />
      {word}
    </span>
  );
}

export function Empty({ title, children }: { title: string; children?: React.ReactNode }) {
  return (
    <div className="empty">
      <h2>{title}</h2>
      {children}
    </div>
  );
}

export function Problem({ text }: { text: string }) {
  return (
    <p className="problem" role="alert">
      <Plain value={text} />
    </p>
  );
}
