/** Reads a record as it grows, and finds its place again when the connection breaks. */
import { useEffect, useReducer, useRef, useState } from 'react';
import type { BriefEvent, OutputLine, RecordPage } from '../../src/protocol/record-wire.js';
import { ApiError, ask, reasonOf, send } from './api.js';
import { Timeline } from './timeline.js';

type FollowLine = BriefEvent | OutputLine;

type FollowState = 'loading' | 'live' | 'reconnecting' | 'ended' | { readonly failed: string };

export interface Followed {
  readonly timeline: Timeline;
  readonly state: FollowState;
  /** How much of a long record is here, from 0 to 1, while the timeline has a part of it alone. */
  readonly read?: number | undefined;
}

const longestPauseMs = 5000;
/** Entries whose texts stay in the page. */
const whole = 2000;
/** Events of the part that a reader sees first. */
const partEvents = 400;
/** How often the page shows how much of a long record is here. */
const progressMs = 200;

/**
 * The record of a runtime. Of a long one the part around `at`, or its end, comes first, and the whole behind it. The
 * timeline is the same object from then on; this renders again when it has grown.
 */
export function useRecord(id: string, at = 0): Followed {
  const [, render] = useReducer((count: number) => count + 1, 0);
  const [state, setState] = useState<FollowState>('loading');
  const timeline = useRef(new Timeline({ whole }));
  const [part, setPart] = useState<Part>();
  const wanted = useRef(at);
  wanted.current = at;
  useEffect(() => {
    setPart(undefined);
    timeline.current = new Timeline({ whole });
    setState('loading');
    const left = new AbortController();
    let frame = 0;
    let newest = 0;
    let shownAt = 0;
    const take = (events: readonly FollowLine[]) => {
      timeline.current.push(events);
      setState('live');
      if (frame !== 0) return;
      frame = requestAnimationFrame((now) => {
        frame = 0;
        // Before all of it is here only the progress changes.
        if (timeline.current.last < newest && now - shownAt < progressMs) return;
        shownAt = now;
        render();
      });
    };
    readPart(id, wanted.current, left.signal)
      // What fails here fails again when the record is followed, which reports it.
      .catch(() => undefined)
      .then((read) => {
        if (read?.isAll) take(read.events);
        else if (read !== undefined) {
          newest = read.newest;
          setPart(partOf(read));
        }
        void follow(id, timeline.current, take, setState, left.signal);
      });
    return () => {
      left.abort();
      cancelAnimationFrame(frame);
    };
  }, [id]);
  const { last } = timeline.current;
  if (part === undefined || last >= part.newest) return { timeline: timeline.current, state };
  return { timeline: part.timeline, state, read: last / part.newest };
}

interface Part {
  readonly timeline: Timeline;
  /** The id of the newest event of the whole record when it was read. */
  readonly newest: number;
}

interface ReadPart {
  readonly events: readonly BriefEvent[];
  readonly isAll: boolean;
  readonly newest: number;
}

async function readPart(id: string, at: number, signal: AbortSignal): Promise<ReadPart> {
  const path = `/v1/records/${encodeURIComponent(id)}?brief=1`;
  const read = (query: string) => ask<RecordPage>(`${path}&${query}`, { signal });
  const end = await read(`tail=1&limit=${partEvents}`);
  const first = end.events[0]?.id ?? 0;
  const newest = end.events.at(-1)?.id ?? 0;
  if (at === 0 || at >= first) return { events: end.events, isAll: first === 1, newest };
  const from = Math.max(0, at - partEvents / 2);
  const { events } = await read(`after=${from}&limit=${partEvents}`);
  return { events, isAll: false, newest };
}

function partOf({ events, newest }: ReadPart): Part {
  const timeline = new Timeline();
  timeline.push(events);
  return { timeline, newest };
}

async function follow(
  id: string,
  timeline: Timeline,
  take: (events: readonly FollowLine[]) => void,
  tell: (state: FollowState) => void,
  signal: AbortSignal,
): Promise<void> {
  for (let pauseMs = 250; !signal.aborted; pauseMs = Math.min(2 * pauseMs, longestPauseMs)) {
    try {
      const path = `/v1/records/${encodeURIComponent(id)}/follow?brief=1&output=1&after=${timeline.last}`;
      const response = await send(path, { signal });
      tell('live');
      for await (const events of linesOf(response)) {
        take(events);
        pauseMs = 250;
      }
      if (timeline.ended) return tell('ended');
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof ApiError && error.code !== 'backend-unavailable')
        return tell({ failed: reasonOf(error) });
    }
    tell('reconnecting');
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
}

/** Whole lines, as many at once as came together. */
async function* linesOf(response: Response): AsyncGenerator<FollowLine[]> {
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  for (;;) {
    const part = await reader?.read();
    if (part === undefined || part.done) return;
    const lines = (rest + part.value).split('\n');
    rest = lines.pop() ?? '';
    const events = lines.filter((line) => line !== '').map((line) => JSON.parse(line) as FollowLine);
    if (events.length > 0) yield events;
  }
}
