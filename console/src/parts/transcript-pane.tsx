/** The commands and their output as one text, up to the chosen moment or to the end. */
import { changeQuery, hrefOf, usePlace } from '../address.js';
import type { Entry, Timeline } from '../timeline.js';
import { screenText } from '../visible.js';
import { Scrubber } from './scrubber.js';
import { Empty } from './state.js';
import { Block } from './text.js';

const mostCommands = 200;

export function TranscriptPane({ timeline }: { timeline: Timeline }) {
  const { query, path } = usePlace();
  const at = Number(query.get('at') ?? '0');
  const commands = timeline.entries.filter(({ name }) => name === 'run' || name === 'start_process');
  if (commands.length === 0) return <Empty title="No command ran yet." />;
  const until = at === 0 ? commands.length - 1 : commands.findLastIndex(({ id }) => id <= at);
  const shown = commands.slice(Math.max(0, until + 1 - mostCommands), until + 1);
  const short = shown.filter(({ trimmed }) => trimmed.length > 0).length;
  return (
    <div className="details filled">
      {(short > 0 || until >= mostCommands) && (
        <p className="hint">
          {until >= mostCommands && `The last ${mostCommands} commands. `}
          {short > 0 && (
            <>
              Long output is cut here; the <a href={hrefOf([...path.slice(0, 2), 'timeline'])}>timeline</a>{' '}
              has all that the record has.
            </>
          )}
        </p>
      )}
      <Block label="Transcript" value={shown.map(inWords).join('')} atEnd />
      <Scrubber
        entries={commands}
        index={until}
        onChoose={(entry) => changeQuery({ at: entry === undefined ? undefined : String(entry.id) })}
      />
    </div>
  );
}

function inWords({ action, title, observation, error, live, ending, trimmed }: Entry): string {
  const { command } = action ?? {};
  const output =
    typeof observation?.output === 'string' ? observation.output : live === undefined ? '' : screenText(live);
  const text = output === '' || output.endsWith('\n') ? output : `${output}\n`;
  return [
    `$ ${typeof command === 'string' ? command.trimEnd() : title}\n`,
    text,
    trimmed.length > 0 ? '[…]\n' : '',
    error === undefined ? '' : `${error.message}\n`,
    ending === undefined || ending === 'exit 0' ? '' : `[${ending}]\n`,
  ].join('');
}
