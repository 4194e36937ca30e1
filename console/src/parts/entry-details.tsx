/** All that the record has of one entry. */
import { hrefOf } from '../address.js';
import { bytes, duration, moment } from '../format.js';
import type { Entry } from '../timeline.js';
import { screenText } from '../visible.js';
import { useWhole } from '../whole.js';
import { picturesOf } from './pictures.js';
import { OutcomeDot, Problem } from './state.js';
import { Block, Diff, Plain } from './text.js';

export function EntryDetails({ id, entry, onClose }: { id: string; entry: Entry; onClose: () => void }) {
  const whole = useWhole(id, entry);
  const { name, at, endedAt, outcome, ending, decision, source } = entry;
  const { action = entry.action, observation = entry.observation, error = entry.error } = whole;
  return (
    <div className="details">
      <div className="tools small">
        <button type="button" className="quiet" onClick={onClose} aria-label="Close the details">
          ←
        </button>
        <OutcomeDot outcome={outcome} />
        <h2>
          <Plain value={name} />
        </h2>
        {ending !== undefined && (
          <span className={`ending ${outcome}`}>
            <Plain value={ending} />
          </span>
        )}
      </div>
      {whole.problem !== undefined && <Problem text={whole.problem} />}
      {error !== undefined && <Problem text={`${error.code}: ${error.message}`} />}
      {action !== undefined && <Asked action={action} />}
      {outcome === 'running' && entry.group === 'command' && <Printing live={entry.live} />}
      {observation !== undefined && <Answered observation={observation} />}
      <dl className="facts">
        <dt>When</dt>
        <dd>{moment(at)}</dd>
        {endedAt !== undefined && (
          <>
            <dt>Took</dt>
            <dd>{duration(endedAt - at)}</dd>
          </>
        )}
        <dt>By</dt>
        <dd>{source}</dd>
        {typeof observation?.cwd === 'string' && (
          <>
            <dt>In</dt>
            <dd className="mono">
              <Plain value={observation.cwd} />
            </dd>
          </>
        )}
        {decision !== undefined && (
          <>
            <dt>Decision</dt>
            <dd>
              {decision.outcome} by {decision.who ?? decision.by}
              {', '}
              <span className={`risk ${decision.risk}`}>risk {decision.risk}</span>
              {decision.reasons.map((reason) => (
                <div key={reason} className="hint">
                  <Plain value={reason} />
                </div>
              ))}
            </dd>
          </>
        )}
      </dl>
      {action !== undefined && (
        <FieldList value={restOf(action, ['action', ...longIn(action)])} label="Fields of the action" />
      )}
      {observation !== undefined && (
        <FieldList value={restOf(observation, shownOfAnswer)} label="Fields of the observation" />
      )}
      <Origin facts={entry.facts} />
      {entry.facts !== undefined && <FieldList value={entry.facts} label="Fields of the event" isOpen />}
      {action === undefined && entry.facts === undefined && (
        <p>
          <Plain value={entry.title} />
        </p>
      )}
    </div>
  );
}

/** Leads to the other runtime of a fork or a merge. */
function Origin({ facts }: { facts: object | undefined }) {
  const { runtime, change } = (facts ?? {}) as { runtime?: unknown; change?: unknown };
  if (typeof runtime !== 'string') return null;
  return (
    <p>
      {change === 'began' ? 'It began from the files of ' : 'The other runtime: '}
      <a href={hrefOf(['records', runtime])}>
        <Plain value={runtime} />
      </a>
    </p>
  );
}

/** What a command printed so far. */
function Printing({ live }: { live: string | undefined }) {
  if (live === undefined)
    return <p className="hint">It prints nothing yet, or began before anybody watched.</p>;
  return (
    <div>
      <h3>output so far</h3>
      <Block label="output so far" value={screenText(live)} atEnd />
    </div>
  );
}

const longFields = ['command', 'code', 'content', 'oldText', 'newText'];

function Asked({ action }: { action: Fields }) {
  return longIn(action).map((name) => (
    <div key={name}>
      <h3>{name}</h3>
      <Block label={name} value={String(action[name])} />
    </div>
  ));
}

type Fields = Readonly<Record<string, unknown>>;

function longIn(action: Fields): string[] {
  return longFields.filter((name) => typeof action[name] === 'string' && action[name] !== '');
}

/** What has no place of its own. */
function restOf(fields: Fields, shown: readonly string[]): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([name]) => !shown.includes(name)));
}

const shownOfAnswer = [
  'observation',
  'output',
  'text',
  'diff',
  'stdout',
  'stderr',
  'content',
  'outputs',
  'screenshot',
];

function Answered({ observation }: { observation: Fields }) {
  const { output, text, diff, stdout, stderr, content, outputs, screenshot } = observation;
  const pictures = picturesOf({ outputs, screenshot });
  const texts = Object.entries({ output, text, stdout, stderr, content });
  return (
    <>
      {texts.map(
        ([name, value]) =>
          typeof value === 'string' &&
          value !== '' && (
            <div key={name}>
              <h3>{name}</h3>
              <Block label={name} value={value} />
            </div>
          ),
      )}
      {typeof diff === 'string' && (
        <div>
          <h3>Change</h3>
          <Diff value={diff} />
        </div>
      )}
      {pictures.map((source) => (
        <img key={source.slice(-40)} className="picture" src={source} alt="What the agent saw or drew" />
      ))}
    </>
  );
}

/** The remaining fields, small and out of the way. */
function FieldList({ value, label, isOpen }: { value: object; label: string; isOpen?: boolean }) {
  const entries = Object.entries(value).filter(
    ([, field]) => field !== undefined && field !== null && field !== '',
  );
  if (entries.length === 0) return null;
  return (
    <details open={isOpen}>
      <summary>{label}</summary>
      <dl className="facts">
        {entries.map(([name, field]) => (
          <div key={name} className="pair">
            <dt>{name}</dt>
            <dd className="mono">
              <Plain value={shownField(name, field)} />
            </dd>
          </div>
        ))}
      </dl>
    </details>
  );
}

const longestField = 2000;

function shownField(name: string, field: unknown): string {
  if (typeof field === 'number' && name.endsWith('Bytes')) return bytes(field);
  if (typeof field === 'number' && name.endsWith('Ms')) return duration(field);
  const text = typeof field === 'string' ? field : JSON.stringify(field);
  return text.length > longestField ? `${text.slice(0, longestField)}…` : text;
}
