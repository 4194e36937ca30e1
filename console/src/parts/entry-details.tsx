/** All that the record has of one entry. */
import { useEffect, useState } from 'react';
import type { BriefEvent, RecordPage } from '../../../src/protocol/record-wire.js';
import { ask, reasonOf } from '../api.js';
import { bytes, duration, moment } from '../format.js';
import type { Entry } from '../timeline.js';
import { picturesOf } from './pictures.js';
import { OutcomeDot, Problem } from './state.js';
import { Block, Diff, Plain } from './text.js';

export function EntryDetails({ id, entry, onClose }: { id: string; entry: Entry; onClose: () => void }) {
  const whole = useWhole(id, entry);
  const { name, at, endedAt, outcome, ending, decision, source } = entry;
  const { action = entry.action, observation = entry.observation } = whole;
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
      {entry.error !== undefined && <Problem text={`${entry.error.code}: ${entry.error.message}`} />}
      {action !== undefined && <Asked action={action} />}
      {observation !== undefined && <Answered observation={observation} />}
      {entry.facts !== undefined && <Fields value={entry.facts} label="Fields of the event" />}
      {action === undefined && entry.facts === undefined && (
        <p>
          <Plain value={entry.title} />
        </p>
      )}
    </div>
  );
}

const longFields = ['command', 'code', 'content', 'oldText', 'newText'];

function Asked({ action }: { action: Readonly<Record<string, unknown>> }) {
  const { action: _name, ...fields } = action;
  const long = longFields.filter((name) => typeof fields[name] === 'string' && fields[name] !== '');
  const rest = Object.fromEntries(Object.entries(fields).filter(([name]) => !long.includes(name)));
  return (
    <>
      {long.map((name) => (
        <div key={name}>
          <h3>{name}</h3>
          <Block label={name} value={String(fields[name])} />
        </div>
      ))}
      <Fields value={rest} label="Fields of the action" />
    </>
  );
}

function Answered({ observation }: { observation: Readonly<Record<string, unknown>> }) {
  const {
    observation: _name,
    output,
    text,
    diff,
    stdout,
    stderr,
    content,
    outputs,
    screenshot,
    ...rest
  } = observation;
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
      <Fields value={rest} label="Fields of the observation" />
    </>
  );
}

/** The remaining fields, small and out of the way. */
function Fields({ value, label }: { value: object; label: string }) {
  const entries = Object.entries(value).filter(
    ([, field]) => field !== undefined && field !== null && field !== '',
  );
  if (entries.length === 0) return null;
  return (
    <details>
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

interface Whole {
  readonly action?: Readonly<Record<string, unknown>>;
  readonly observation?: Readonly<Record<string, unknown>>;
  readonly problem?: string;
}

/** What the list left out, from the record. */
function useWhole(id: string, entry: Entry): Whole {
  const [whole, setWhole] = useState<Whole>({});
  const { trimmed } = entry;
  const events = trimmed ? entry.events.join(',') : '';
  useEffect(() => {
    if (events === '') return;
    const left = new AbortController();
    const read = async (event: string) => {
      const path = `/v1/records/${encodeURIComponent(id)}?after=${Number(event) - 1}&limit=1`;
      return (await ask<RecordPage>(path, { signal: left.signal })).events;
    };
    Promise.all(events.split(',').map(read))
      .then((pages) => setWhole(partsOf(pages.flat())))
      .catch((error: unknown) => {
        if (!left.signal.aborted) setWhole({ problem: reasonOf(error) });
      });
    return () => left.abort();
  }, [id, events]);
  return whole;
}

function partsOf(events: readonly BriefEvent[]): Whole {
  const action = events.find((event) => event.kind === 'action');
  const observation = events.find((event) => event.kind === 'observation');
  return {
    ...(action && { action: action.action }),
    ...(observation && { observation: observation.observation }),
  };
}
