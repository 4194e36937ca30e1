/** What the agent sees in its browser: the newest picture as it comes, or the one of the chosen moment. */
import { changeQuery, usePlace } from '../address.js';
import { clock } from '../format.js';
import type { Entry, Timeline } from '../timeline.js';
import { useWhole } from '../whole.js';
import { picturesOf } from './pictures.js';
import { Scrubber } from './scrubber.js';
import { Empty, Problem } from './state.js';
import { Mono, Plain } from './text.js';

export function BrowserPane({ id, timeline }: { id: string; timeline: Timeline }) {
  const { query } = usePlace();
  const at = Number(query.get('at') ?? '0');
  const looks = timeline.entries.filter(hasPicture);
  const index = at === 0 ? looks.length - 1 : looks.findLastIndex((entry) => entry.id <= at);
  const look = looks[index];
  const whole = useWhole(id, look);
  const { observation = look?.trimmed.length === 0 ? look.observation : undefined } = whole;
  if (looks.length === 0)
    return (
      <Empty title="The agent opened no page yet.">
        <p>When it uses a browser, the page that it sees appears here.</p>
      </Empty>
    );
  const [picture] = picturesOf({ outputs: undefined, screenshot: observation?.screenshot });
  return (
    <div className="details filled">
      {look !== undefined && (
        <div className="tools small">
          <span className="num">{clock(look.at)}</span>
          <Mono value={String(look.observation?.url ?? look.title)} />
          {typeof look.observation?.title === 'string' && (
            <span className="hint">
              <Plain value={look.observation.title} />
            </span>
          )}
          <span className="space" />
          {at !== 0 && (
            <button type="button" onClick={() => changeQuery({ at: undefined })}>
              Follow
            </button>
          )}
        </div>
      )}
      {whole.problem !== undefined && <Problem text={whole.problem} />}
      {picture !== undefined && (
        <img className="picture" src={picture} alt="The page in the agent's browser" />
      )}
      <Scrubber
        entries={looks}
        index={index}
        onChoose={(entry) => changeQuery({ at: entry === undefined ? undefined : String(entry.id) })}
      />
    </div>
  );
}

function hasPicture({ observation }: Entry): boolean {
  const { screenshot } = observation ?? {};
  return typeof screenshot === 'object' && screenshot !== null;
}
