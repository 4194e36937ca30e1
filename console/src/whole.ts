/** What a list left out of an entry, from the record. */
import { useEffect, useState } from 'react';
import type { BriefEvent, RecordPage } from '../../src/protocol/record-wire.js';
import { ask, reasonOf } from './api.js';
import type { Entry } from './timeline.js';

export interface Whole extends Pick<Entry, 'action' | 'observation' | 'error'> {
  readonly problem?: string;
}

export function useWhole(id: string, entry: Entry | undefined): Whole {
  const [whole, setWhole] = useState<Whole>({});
  // A few at most, whatever an action reports while it is under way.
  const events = entry?.trimmed.join(',') ?? '';
  useEffect(() => {
    setWhole({});
    if (events === '') return;
    const left = new AbortController();
    readWhole(id, events.split(',').map(Number), left.signal)
      .then(setWhole)
      .catch((error: unknown) => {
        if (!left.signal.aborted) setWhole({ problem: reasonOf(error) });
      });
    return () => left.abort();
  }, [id, events]);
  return whole;
}

/** The whole of these events, which are of one entry. */
export async function readWhole(id: string, events: readonly number[], signal: AbortSignal): Promise<Whole> {
  const read = async (event: number) => {
    const path = `/v1/records/${encodeURIComponent(id)}?after=${event - 1}&limit=1`;
    return (await ask<RecordPage>(path, { signal })).events;
  };
  return partsOf((await Promise.all(events.map(read))).flat());
}

function partsOf(events: readonly BriefEvent[]): Whole {
  const action = events.find((event) => event.kind === 'action');
  const observation = events.find((event) => event.kind === 'observation');
  const error = events.find((event) => event.kind === 'error');
  return {
    ...(action && { action: action.action }),
    ...(observation && { observation: observation.observation }),
    ...(error && { error: error.error }),
  };
}
