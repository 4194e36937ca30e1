/** Moves through a record: by hand, or by itself. */
import { useEffect, useState } from 'react';
import { clock } from '../format.js';
import type { Entry } from '../timeline.js';

interface Props {
  readonly entries: readonly Entry[];
  readonly index: number;
  readonly onChoose: (entry: Entry | undefined) => void;
}

/** The longest and the shortest time between two steps of the playback. */
const longestMs = 1200;
const shortestMs = 120;

export function Scrubber({ entries, index, onChoose }: Props) {
  const [playing, setPlaying] = useState(false);
  const current = entries[index];
  const next = entries[index + 1];
  // biome-ignore lint/correctness/useExhaustiveDependencies: entries are the same object while they grow
  useEffect(() => {
    if (!playing) return;
    if (next === undefined) return setPlaying(false);
    const gap = current === undefined ? 0 : next.at - current.at;
    const timer = window.setTimeout(() => onChoose(next), Math.min(longestMs, Math.max(shortestMs, gap)));
    return () => window.clearTimeout(timer);
  }, [playing, index, next]);
  if (entries.length < 2) return null;
  return (
    <div className="scrubber">
      <button
        type="button"
        aria-label={playing ? 'Pause the replay' : 'Play the record'}
        onClick={() => {
          if (!playing && next === undefined) onChoose(entries[0]);
          setPlaying(!playing);
        }}
      >
        {playing ? '❚❚' : '▶'}
      </button>
      <input
        type="range"
        min={0}
        max={entries.length - 1}
        value={Math.max(0, index)}
        aria-label="Moment of the record"
        aria-valuetext={current === undefined ? 'none chosen' : clock(current.at)}
        onChange={(event) => onChoose(entries[Number(event.target.value)])}
      />
      <span className="num">
        {index < 0 ? '–' : index + 1} / {entries.length}
      </span>
    </div>
  );
}
