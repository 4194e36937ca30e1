/** One file as it was at the chosen moment. */
import { useEffect, useState } from 'react';
import { reasonOf } from '../api.js';
import { decisive, type FileMoment, fileAfter, mostSteps } from '../file-moments.js';
import type { Timeline } from '../timeline.js';
import { readWhole } from '../whole.js';
import { Problem } from './state.js';
import { Block } from './text.js';

interface Props {
  readonly id: string;
  readonly path: string;
  readonly root: string | undefined;
  readonly timeline: Timeline;
  /** The id of the event; everything when undefined. */
  readonly until: number | undefined;
}

export function FileAt({ id, path, root, timeline, until }: Props) {
  const [moment, setMoment] = useState<FileMoment>();
  const [problem, setProblem] = useState<string>();
  const entries = decisive(timeline.entries, { path, root }, until ?? Number.POSITIVE_INFINITY);
  const key = entries.flatMap(({ events }) => events).join();
  // biome-ignore lint/correctness/useExhaustiveDependencies: the key says which entries they are
  useEffect(() => {
    const left = new AbortController();
    setProblem(undefined);
    if (entries.length > mostSteps) {
      setMoment({ unknown: `It was edited more than ${mostSteps} times since the record had all of it.` });
      return;
    }
    const read = async () => {
      const steps = [];
      for (const entry of entries) {
        const { action = entry.action, observation = entry.observation } =
          entry.trimmed.length === 0 ? {} : await readWhole(id, entry.trimmed, left.signal);
        steps.push({ name: entry.name, action: action ?? {}, observation: observation ?? {} });
      }
      setMoment(fileAfter(steps, { path, root }));
    };
    read().catch((error: unknown) => {
      if (!left.signal.aborted) setProblem(reasonOf(error));
    });
    return () => left.abort();
  }, [id, path, root, key]);
  if (problem !== undefined) return <Problem text={problem} />;
  if (moment === undefined) return <p className="hint">Reading…</p>;
  if ('unknown' in moment) return <p className="hint">{moment.unknown}</p>;
  return (
    <>
      <p className="hint">As actions left or read it; what commands did to it since is not in it.</p>
      <Block label={`${path} at this moment`} value={moment.content} />
    </>
  );
}
