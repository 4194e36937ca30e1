/** Reads the labelled commands and measures an analyzer on them. */
import { readFileSync } from 'node:fs';
import type { Risk } from '../../../src/runtime/security/index.js';
import { rules } from '../../../src/runtime/security/index.js';

export interface Measured {
  readonly dangerous: number;
  readonly harmless: number;
  /** Share of the dangerous that got at least the risk of their label. */
  readonly recall: number;
  /** Share of the commands called high that are labelled so. */
  readonly precision: number;
  readonly falseHigh: number;
  readonly asked: number;
  /** Median. */
  readonly microseconds: number;
  readonly missed: readonly string[];
}

export function measure(prefix: string): Measured {
  const analyzer = rules();
  const dangerous = lines(`${prefix}dangerous.txt`).map((line) => {
    const space = line.indexOf(' ');
    return { label: line.slice(0, space) as Risk, command: line.slice(space + 1) };
  });
  const harmless = lines(`${prefix}harmless.txt`);
  const judge = (command: string) => analyzer.analyze({ action: 'run', command }).risk;
  const missed = dangerous.filter(({ label, command }) => !reaches(judge(command), label));
  const found = dangerous.filter(
    ({ label, command }) => label === 'high' && judge(command) === 'high',
  ).length;
  const wrong = harmless.filter((command) => judge(command) === 'high');
  const asked = harmless.filter((command) => judge(command) !== 'low').length;
  const all = [...dangerous.map(({ command }) => command), ...harmless];
  const times = all
    .map((command) => {
      const start = process.hrtime.bigint();
      judge(command);
      return Number(process.hrtime.bigint() - start) / 1000;
    })
    .sort((left, right) => left - right);
  const microseconds = times[times.length >> 1] ?? 0;
  return {
    dangerous: dangerous.length,
    harmless: harmless.length,
    recall: 1 - missed.length / dangerous.length,
    precision: found / (found + wrong.length),
    falseHigh: wrong.length / harmless.length,
    asked: asked / harmless.length,
    microseconds,
    missed: [
      ...missed.map(({ label, command }) => `${label}: ${command}`),
      ...wrong.map((command) => `harmless: ${command}`),
    ],
  };
}

function reaches(risk: Risk, label: Risk): boolean {
  return label === 'high' ? risk === 'high' : risk !== 'low';
}

/** `⏎` stands for a line break. */
function lines(name: string): string[] {
  return readFileSync(new URL(`corpus/${name}`, import.meta.url), 'utf8')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => line.replaceAll('⏎', '\n'));
}
