import type { Summary } from './measure.js';

/** One figure that must hold: the bar is what "done" needs, the aim what we are after. */
export interface Figure {
  readonly name: string;
  readonly value: number;
  readonly unit: 'ms' | '×' | 'MiB' | '/s' | '';
  readonly better: 'less' | 'more';
  readonly bar: number;
  readonly aim?: number;
}

export interface Measured {
  /** All timings by name, the floors among them, in milliseconds. */
  readonly timings: Readonly<Record<string, Summary>>;
  /** Which timing the ratios compare with. */
  readonly floor: string;
  readonly figures: readonly Figure[];
}

/** A line of the table: `bench/lines/<name>.ts` exports one by default. */
export interface Line {
  readonly name: string;
  /** What it measures, and against which floor. */
  readonly summary: string;
  measure(): Promise<Measured>;
}

export function defineLine(line: Line): Line {
  return line;
}

export function holds({ value, better, bar }: Figure): boolean {
  return better === 'less' ? value <= bar : value >= bar;
}
