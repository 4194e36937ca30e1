/** `npm run bench:growth [subject…]`: what one use costs as its number grows a thousandfold. Writes its part of `docs/benchmarks.md`. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { rawSpawn } from '../floors.js';
import { interleave } from '../measure.js';
import { mebibyte } from '../memory.js';
import { digits, table } from '../peers/report.js';
import { benchmarksPage, writeSection } from '../section.js';
import { picture } from './picture.js';
import { type Subject, subjects } from './subjects.js';

export interface Grown {
  readonly name: string;
  readonly cost: string;
  readonly points: readonly Point[];
}

interface Point {
  readonly count: number;
  readonly ms: number;
  /** Of a raw spawn in the same minute: what slows the machine slows both. */
  readonly ratio: number;
  readonly eachMib: number | undefined;
}

/** Beside the page, which links it. */
const pictureFile = 'benchmarks-growth.svg';

/** More than this above the first one is told as growth. */
const flat = 1.5;

export async function growthOf({ name, cost, counts, rounds, start }: Subject): Promise<Grown> {
  await using growing = await start();
  const points: Point[] = [];
  for (const count of counts) {
    await growing.grow(count);
    const timings = await interleave(
      {
        use: () => growing.use(),
        settle: () => growing.settle?.(),
        floor: () => rawSpawn('/bin/true'),
      },
      { rounds, warmup: Math.ceil(rounds / 10) },
    );
    const bytes = growing.weigh?.();
    points.push({
      count,
      ms: timings.use.p50,
      ratio: timings.use.p50 / timings.floor.p50,
      eachMib: bytes === undefined ? undefined : bytes / mebibyte / count,
    });
  }
  return { name, cost, points };
}

export function growthSection(all: readonly Grown[], date: string): string {
  const number = (value: number) => value.toLocaleString('en-US');
  const rows = all.map(({ name, points }) => {
    const cells = points.map(({ count, ms, ratio, eachMib }) => {
      const memory = eachMib === undefined ? '' : `, ${digits(eachMib)} MiB each`;
      return `${number(count)}: ${digits(ms)} ms (${digits(ratio)}×)${memory}`;
    });
    const change = (points.at(-1)?.ratio ?? 0) / (points[0]?.ratio ?? 1);
    return [name, ...cells, `${change > flat ? 'grows' : 'flat'}, ${digits(change)}×`];
  });
  const what = all.map(({ name, cost }) => `- ${name}: ${cost}`).join('\n');
  return `Measured ${date}: the median of one use, and in brackets its multiple of a raw spawn of \`/bin/true\` between the samples.\n\n${what}\n\n${table(['', 'first', '× 10', '× 100', '× 1,000', 'last next to first'], rows)}\n\n![Cost of one use by its number, as a multiple of the first](${pictureFile})`;
}

async function main(wanted: readonly string[]): Promise<void> {
  const state = mkdtempSync(join(tmpdir(), 'workcell-bench-state-'));
  process.env.XDG_STATE_HOME = state;
  try {
    const all: Grown[] = [];
    for (const subject of subjects.filter(({ name }) => wanted.length === 0 || wanted.includes(name))) {
      console.error(subject.name);
      all.push(await growthOf(subject));
    }
    const section = growthSection(all, new Date().toISOString().slice(0, 10));
    console.log(section);
    if (wanted.length > 0) return;
    writeSection('growth', section);
    writeFileSync(join(dirname(benchmarksPage), pictureFile), picture(all));
  } finally {
    rmSync(state, { recursive: true, force: true });
  }
}

if (process.argv[1] === import.meta.filename) await main(process.argv.slice(2));
