/**
 * The scorecard as a page. Only what is the same in every run is on it. Each test file measures some of its columns, and
 * answers for those alone.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { expect } from 'vitest';
import { abuseCases, type Verdict } from '../../src/testing/abuse/index.js';

const titles = ['sandbox, root', 'sandbox, plain user', 'docker', 'docker, gVisor', 'kubernetes'] as const;

type Title = (typeof titles)[number];

interface Mark {
  readonly result: string;
  readonly reason?: string | undefined;
}

/** By the id of the case. */
type Column = ReadonlyMap<string, Mark>;

const page = new URL('../../docs/reference/scorecard.md', import.meta.url);

/** With WRITE_SCORECARD=1 it writes the page first. */
export function expectOnPage(measured: Partial<Record<Title, ReadonlyMap<string, Verdict>>>): void {
  const known = readFileSync(page, 'utf8');
  const columns = new Map<Title, Column>(
    titles.map((title) => {
      const verdicts = measured[title];
      return [title, verdicts === undefined ? columnOn(known, title) : marksOf(verdicts)];
    }),
  );
  const found = scorecardPage(columns);
  if (process.env.WRITE_SCORECARD) writeFileSync(page, found);
  expect(found).toBe(readFileSync(page, 'utf8'));
}

/** A cell may hold by luck what it does not claim, so the claim is what stands on the page. */
function marksOf(verdicts: ReadonlyMap<string, Verdict>): Column {
  return new Map(
    [...verdicts].map(([id, { result, reason }]) => [
      id,
      { result: reason === undefined ? result : 'not claimed', reason },
    ]),
  );
}

function columnOn(text: string, title: Title): Column {
  const [header = [], ...rows] = [...text.matchAll(/^\| (.*) \|$/gm)].map(([, line = '']) =>
    line.split(' | '),
  );
  const index = header.indexOf(title);
  const reasons = new Map(
    [...text.matchAll(/^- `(.+)`, (.+?): (.+)\.$/gm)]
      .filter(([, , of]) => of === title)
      .map(([, id = '', , reason]) => [id, reason]),
  );
  return new Map(
    rows.map((row) => {
      const id = (row[0] ?? '').replaceAll('`', '');
      return [id, { result: row[index] ?? '', reason: reasons.get(id) }];
    }),
  );
}

function scorecardPage(columns: ReadonlyMap<Title, Column>): string {
  const header = ['case', 'attack', 'must be', ...columns.keys()];
  const rows = abuseCases.map(({ id, title, expected }) => [
    `\`${id}\``,
    title,
    expected,
    ...[...columns.values()].map((column) => column.get(id)?.result || '-'),
  ]);
  return [
    '# Scorecard',
    '',
    'Attacks on cells, and what came of them. `npx vitest run test/abuse` measures them and fails when this page says otherwise; set',
    'WRITE_SCORECARD=1 and pass `--no-file-parallelism` to rewrite it. `workcell doctor --attack` runs the same cases on your',
    'machine. The numbers are those of the abuse catalogue; `public` marks a published failure of another product. A dash marks',
    'what we do not measure with gVisor and on Kubernetes: attacks on the executor and on this side, which are the same in any',
    'container; with gVisor also two whose effect nobody can see from inside it, and those of programs that look into others of',
    'their user, which gVisor allows. The cluster is one node with runc whose network knows no policies.',
    '',
    ...table([header, ...rows]),
    '',
    ...notes(columns),
  ].join('\n');
}

function notes(columns: ReadonlyMap<Title, Column>): string[] {
  const lines = [...columns].flatMap(([title, column]) =>
    [...column]
      .filter(([, { reason }]) => reason !== undefined)
      .map(([id, { reason }]) => `- \`${id}\`, ${title}: ${reason}.`),
  );
  if (lines.length === 0) return [];
  return ['## Not claimed', '', 'What a cell does not promise to withstand, and why:', '', ...lines, ''];
}

function table(rows: readonly (readonly string[])[]): string[] {
  const [header = [], ...body] = rows.map((row) => `| ${row.join(' | ')} |`);
  return [header, `|${' --- |'.repeat(rows[0]?.length ?? 0)}`, ...body].flat();
}
