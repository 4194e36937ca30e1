/** `npm run bench -- --compare COMMIT [line…]`: runs that commit and this tree in turn, and tells what changed beyond noise. */
import { buildHere, checkOut, measure, type Report } from './heads.js';
import { beyondNoise, type Change, compareRounds, fewestRounds } from './statistics.js';

const level = 0.05;

/** Each timing by its name, as a multiple of the floor of its own run: what slows the machine slows both. */
export type Round = ReadonlyMap<string, number>;

export interface Verdict extends Change {
  readonly name: string;
  readonly beyondNoise: boolean;
}

export function roundOf(reports: readonly Report[]): Round {
  const ratios = new Map<string, number>();
  for (const { name, timings, floor } of reports) {
    const base = timings[floor]?.p50 ?? Number.NaN;
    for (const [timing, { p50 }] of Object.entries(timings))
      if (timing !== floor && base > 0 && p50 > 0) ratios.set(`${name}: ${timing}`, p50 / base);
  }
  return ratios;
}

/** Judges what all rounds of both heads have. */
export function judge(before: readonly Round[], after: readonly Round[]): Verdict[] {
  const all = [...before, ...after];
  const names = [...(all[0]?.keys() ?? [])].filter((name) => all.every((round) => round.has(name)));
  const series = (rounds: readonly Round[], name: string) =>
    rounds.map((round) => round.get(name) ?? Number.NaN);
  const changes = names.map((name) => compareRounds(series(before, name), series(after, name)));
  const found = beyondNoise(
    changes.map(({ chance }) => chance),
    level,
  );
  return names.map((name, index) => ({
    name,
    ...(changes[index] as Change),
    beyondNoise: found[index] === true,
  }));
}

/** Prints the verdicts. Gives the exit code: 1 where something became slower. */
export function compareHeads(commit: string, lines: readonly string[], rounds: number): number {
  if (lines.length === 0)
    throw new Error('Name the lines to compare; all of them take hours. Example: --compare HEAD~1 builtin');
  using old = checkOut(commit);
  const current = buildHere();
  const before: Round[] = [];
  const after: Round[] = [];
  for (let round = 0; round < rounds; round++) {
    console.error(`round ${round + 1} of ${rounds}`);
    // Who goes first changes from round to round, so that neither always finds the machine warm.
    const turns = [
      () => before.push(roundOf(measure(old, lines))),
      () => after.push(roundOf(measure(current, lines))),
    ];
    for (const turn of round % 2 === 0 ? turns : turns.reverse()) turn();
  }
  const verdicts = judge(before, after);
  print(verdicts, commit, rounds);
  return verdicts.some(({ beyondNoise, ratio }) => beyondNoise && ratio > 1) ? 1 : 0;
}

function print(verdicts: readonly Verdict[], commit: string, rounds: number): void {
  console.log(
    `\nThis tree next to ${commit}, ${rounds} rounds in turn, each timing as a multiple of its floor`,
  );
  for (const { name, ratio, chance, beyondNoise } of verdicts) {
    const word = !beyondNoise ? 'no change seen' : ratio > 1 ? 'SLOWER' : 'faster';
    console.log(
      `  ${name.padEnd(52)}${ratio.toFixed(3).padStart(8)}×  ${word} (by chance: ${chance.toFixed(4)})`,
    );
  }
  const needed = fewestRounds(verdicts.length, level);
  if (rounds < needed)
    console.log(
      `  With ${verdicts.length} timings nothing can stand out in fewer than ${needed} rounds: --rounds ${needed}`,
    );
}
