/** Reads again what has no stream: while the reader looks at the page, or also behind other pages. */
import { useCallback, useEffect, useRef, useState } from 'react';
import { reasonOf } from './api.js';

export interface Polled<Value> {
  readonly value: Value | undefined;
  readonly problem: string | undefined;
  /** Asks at once. */
  refresh(): void;
}

interface PollOptions {
  /** Goes on while the page is hidden: what waits for the reader must reach them there. */
  readonly whileHidden?: boolean;
}

/** `everyMs` 0: only once, and when asked to. */
export function usePolled<Value>(
  read: () => Promise<Value>,
  everyMs: number,
  key: string,
  { whileHidden = false }: PollOptions = {},
): Polled<Value> {
  const [value, setValue] = useState<Value>();
  const [problem, setProblem] = useState<string>();
  const latest = useRef(read);
  latest.current = read;
  const wake = useRef(() => {});
  // biome-ignore lint/correctness/useExhaustiveDependencies: another key begins anew
  useEffect(() => {
    let over = false;
    let timer: number | undefined;
    let under = false;
    setValue(undefined);
    setProblem(undefined);
    const turn = async () => {
      window.clearTimeout(timer);
      if (under || over) return;
      under = true;
      try {
        const next = await latest.current();
        if (over) return;
        setValue(next);
        setProblem(undefined);
      } catch (error) {
        if (!over) setProblem(reasonOf(error));
      } finally {
        under = false;
        if (!over && everyMs > 0 && (whileHidden || document.visibilityState === 'visible'))
          timer = window.setTimeout(turn, everyMs);
      }
    };
    wake.current = () => void turn();
    const onVisible = () => everyMs > 0 && document.visibilityState === 'visible' && void turn();
    document.addEventListener('visibilitychange', onVisible);
    void turn();
    return () => {
      over = true;
      window.clearTimeout(timer);
      document.removeEventListener('visibilitychange', onVisible);
    };
  }, [key, everyMs, whileHidden]);
  const refresh = useCallback(() => wake.current(), []);
  return { value, problem, refresh };
}
