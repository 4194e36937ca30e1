/** What was there before and after, and whether that is what should be. */
import { setTimeout } from 'node:timers/promises';
import type { Counts } from './count.js';

export interface Row {
  readonly name: string;
  readonly before: number;
  readonly after: number;
  /** How much more is no leftover. */
  readonly slack: number;
}

export interface Report {
  readonly title: string;
  readonly rows: readonly Row[];
}

export function rowsOf(before: Counts, after: Counts): Row[] {
  return (Object.keys(before) as (keyof Counts)[]).map((name) => ({
    name,
    before: before[name],
    after: after[name],
    slack: 0,
  }));
}

export function leftovers({ rows }: Report): Row[] {
  return rows.filter(({ before, after, slack }) => after > before + slack);
}

export function print(report: Report): void {
  console.log(`\n${report.title}`);
  console.log(`  ${''.padEnd(16)}${'before'.padStart(10)}${'after'.padStart(10)}`);
  const left = leftovers(report);
  for (const row of report.rows) {
    const [before, after] = [row.before, row.after].map((value) => String(Math.round(value)).padStart(10));
    console.log(`  ${row.name.padEnd(16)}${before}${after}${left.includes(row) ? '  LEFT' : ''}`);
  }
}

/** The kernel takes a moment to clear up behind a process: looks until nothing remains, or the time is over. */
export async function settle(look: () => Report, limitMs = 20_000): Promise<Report> {
  const deadline = performance.now() + limitMs;
  for (;;) {
    const report = look();
    if (leftovers(report).length === 0 || performance.now() > deadline) return report;
    await setTimeout(50);
  }
}

/** Prints progress at each tenth of the way. */
export function tellProgress(done: number, total: number, what: string): void {
  if (done % Math.ceil(total / 10) === 0) console.error(`${done} of ${total} ${what}`);
}
