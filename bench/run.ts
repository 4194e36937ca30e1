/**
 * `npm run bench [name…] [--json]`: measures each line with its floor and says whether the bars hold.
 * `npm run bench -- name… --compare COMMIT [--rounds N]`: compares this tree with another head.
 */
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { compareHeads } from './compare/compare.js';
import { type Figure, holds, type Line, type Measured } from './line.js';
import { runLines } from './run-lines.js';

const folder = new URL('lines/', import.meta.url);

const {
  values: { json, compare, rounds },
  positionals: wanted,
} = parseArgs({
  allowPositionals: true,
  options: {
    json: { type: 'boolean', default: false },
    compare: { type: 'string' },
    rounds: { type: 'string', default: '10' },
  },
});
const known = readdirSync(folder)
  .filter((file) => file.endsWith('.ts'))
  .map((file) => file.slice(0, -'.ts'.length));

const unknown = wanted.filter((name) => !known.includes(name));
if (unknown.length > 0) {
  console.error(`There is no line ${unknown.join(', ')}. Known: ${known.join(', ')}.`);
  process.exit(64);
}

if (compare !== undefined) {
  const most = 20;
  if (!(Number(rounds) >= 2 && Number(rounds) <= most))
    throw new Error(`--rounds takes a number from 2 to ${most}, not "${rounds}".`);
  process.exit(compareHeads(compare, wanted, Number(rounds)));
}

// Keep events as by default, but not among those of this user.
const state = mkdtempSync(join(tmpdir(), 'workcell-bench-state-'));
process.env.XDG_STATE_HOME = state;
process.once('exit', () => rmSync(state, { recursive: true, force: true }));

const missed = await runLines(wanted.length > 0 ? wanted : known, {
  load: async (name) => ((await import(new URL(`${name}.ts`, folder).href)) as { default: Line }).default,
  measured: (line, measured) => {
    const { name, summary } = line;
    const figures = measured.figures.map(withVerdict);
    if (json) console.log(JSON.stringify({ name, summary, ...measured, figures }));
    else print(line, measured);
  },
  failed: (name, reason) => console.error(`\n${name}: FAILED: ${reason}`),
});
process.exitCode = missed === 0 ? 0 : 1;

function withVerdict(figure: Figure) {
  return { ...figure, verdict: holds(figure) ? 'PASS' : 'MISS' };
}

function print(line: Line, { timings, floor, figures }: Measured): void {
  console.log(`\n${line.name}: ${line.summary}`);
  console.log(row(['', 'p50 ms', 'p95 ms', 'p99 ms', 'max ms', 'ratio', 'samples']));
  const base = timings[floor]?.p50 ?? Number.NaN;
  for (const [name, { p50, p95, p99, max, samples }] of Object.entries(timings)) {
    const ratio = name === floor ? 'floor' : `${digits(p50 / base)}×`;
    console.log(row([name, digits(p50), digits(p95), digits(p99), digits(max), ratio, String(samples)]));
  }
  for (const figure of figures) {
    const { name, value, unit, better, bar, aim } = figure;
    const sign = better === 'less' ? '≤' : '≥';
    const goal = `bar ${sign} ${bar} ${unit}${aim === undefined ? '' : `, aim ${sign} ${aim} ${unit}`}`;
    console.log(`  ${holds(figure) ? 'PASS' : 'MISS'}  ${name} ${digits(value)} ${unit} (${goal})`);
  }
}

function row([first = '', ...cells]: readonly string[]): string {
  return `  ${first.padEnd(34)}${cells.map((cell) => cell.padStart(10)).join('')}`;
}

function digits(value: number): string {
  return value >= 100 ? value.toFixed(0) : value >= 1 ? value.toFixed(2) : value.toFixed(3);
}
