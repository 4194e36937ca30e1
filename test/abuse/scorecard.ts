/** The scorecard as a page. Only what is the same in every run is on it. */
import type { Verdict } from '../../src/abuse/index.js';

export interface Column {
  readonly title: string;
  readonly verdicts: ReadonlyMap<string, Verdict>;
}

export function scorecardPage(columns: readonly Column[]): string {
  const cases = [...(columns[0]?.verdicts.values() ?? [])];
  const header = ['case', 'attack', 'must be', ...columns.map(({ title }) => title)];
  const rows = cases.map(({ id, title, expected }) => [
    `\`${id}\``,
    title,
    expected,
    ...columns.map(({ verdicts }) => verdicts.get(id)?.result.replace('-', ' ') ?? '-'),
  ]);
  return [
    '# Scorecard',
    '',
    'Attacks on cells of the `sandbox` backend, as measured by `npx vitest run test/abuse`, which fails when this page',
    'is not what it found; with WRITE_SCORECARD=1 it writes it anew. `workcell doctor --attack` runs the same cases on your machine.',
    'Numbers are those of the abuse catalogue; `public` marks a failure of another product that was made public.',
    '',
    ...table([header, ...rows]),
    '',
    ...notes(columns),
  ].join('\n');
}

function notes(columns: readonly Column[]): string[] {
  const lines = columns.flatMap(({ title, verdicts }) =>
    [...verdicts.values()]
      .filter(({ reason }) => reason !== undefined)
      .map(({ id, reason }) => `- \`${id}\`, ${title}: ${reason}.`),
  );
  if (lines.length === 0) return [];
  return ['## Not claimed', '', 'What a cell does not promise to withstand, and why:', '', ...lines, ''];
}

function table(rows: readonly (readonly string[])[]): string[] {
  const [header = [], ...body] = rows.map((row) => `| ${row.join(' | ')} |`);
  return [header, `|${' --- |'.repeat(rows[0]?.length ?? 0)}`, ...body].flat();
}
