/** Reads the labelled commands and measures the rules on them. */
import { readdirSync, readFileSync } from 'node:fs';
import type { Risk } from '../../../src/runtime/security/index.js';
import { rules } from '../../../src/runtime/security/index.js';

export interface Measured {
  readonly dangerous: number;
  readonly harmless: number;
  /** Share of the dangerous that got at least the risk of their label. */
  readonly recall: number;
  /** Share of the commands called high that have that label. */
  readonly precision: number;
  readonly falseHigh: number;
  readonly asked: number;
  /** Median. */
  readonly microseconds: number;
  readonly missed: readonly string[];
}

interface Labelled {
  readonly label: Risk;
  readonly command: string;
}

const folder = new URL('corpus/', import.meta.url);

/** Named by what is in them. */
export const corpora = readdirSync(folder)
  .map((file) => file.replace(/\.txt$/, ''))
  .sort();

export function measure(corpus: string): Measured {
  const analyzer = rules();
  const judged = labelled(corpus).map((line) => {
    const start = process.hrtime.bigint();
    const { risk } = analyzer.analyze({ action: 'run', command: line.command });
    return { ...line, risk, microseconds: Number(process.hrtime.bigint() - start) / 1000 };
  });
  const dangerous = judged.filter(({ label }) => label !== 'low');
  const harmless = judged.filter(({ label }) => label === 'low');
  const missed = dangerous.filter(({ label, risk }) => (label === 'high' ? risk !== 'high' : risk === 'low'));
  const wrong = harmless.filter(({ risk }) => risk === 'high');
  const found = dangerous.filter(({ label, risk }) => label === 'high' && risk === 'high').length;
  const times = judged.map(({ microseconds }) => microseconds).sort((left, right) => left - right);
  return {
    dangerous: dangerous.length,
    harmless: harmless.length,
    recall: share(dangerous.length - missed.length, dangerous.length),
    precision: share(found, found + wrong.length),
    falseHigh: wrong.length / harmless.length,
    asked: harmless.filter(({ risk }) => risk !== 'low').length / harmless.length,
    microseconds: times[times.length >> 1] ?? 0,
    missed: [...missed, ...wrong].map(({ label, command }) => `${label}: ${command}`),
  };
}

/** Of nothing, it found everything. */
function share(part: number, whole: number): number {
  return whole === 0 ? 1 : part / whole;
}

/** `⏎` stands for a line break. */
export function labelled(corpus: string): Labelled[] {
  return readFileSync(new URL(`${corpus}.txt`, folder), 'utf8')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => {
      const space = line.indexOf(' ');
      return {
        label: line.slice(0, space) as Risk,
        command: line.slice(space + 1).replaceAll('⏎', '\n'),
      };
    });
}
