/** Reads a record as it grows, and finds its place again when the connection breaks. */
import { useEffect, useReducer, useRef, useState } from 'react';
import type { BriefEvent, OutputLine } from '../../src/protocol/record-wire.js';
import { ApiError, reasonOf, send } from './api.js';
import { Timeline } from './timeline.js';

type FollowLine = BriefEvent | OutputLine;

type FollowState = 'loading' | 'live' | 'reconnecting' | 'ended' | { readonly failed: string };

export interface Followed {
  readonly timeline: Timeline;
  readonly state: FollowState;
}

const longestPauseMs = 5000;
/** Entries whose texts stay in the page. */
const whole = 2000;

/** The record of a runtime. The timeline is the same object all along; this renders again when it has grown. */
export function useRecord(id: string): Followed {
  const [, render] = useReducer((count: number) => count + 1, 0);
  const [state, setState] = useState<FollowState>('loading');
  const timeline = useRef(new Timeline({ whole }));
  useEffect(() => {
    timeline.current = new Timeline({ whole });
    setState('loading');
    const left = new AbortController();
    let frame = 0;
    const take = (events: readonly FollowLine[]) => {
      timeline.current.push(events);
      setState('live');
      if (frame !== 0) return;
      frame = requestAnimationFrame(() => {
        frame = 0;
        render();
      });
    };
    void follow(id, timeline.current, take, setState, left.signal);
    return () => {
      left.abort();
      cancelAnimationFrame(frame);
    };
  }, [id]);
  return { timeline: timeline.current, state };
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
