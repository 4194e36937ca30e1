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
    ...elsewhere(),
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

/** Attacks that are the same whatever the backend is, with the tests that make them. */
const attackedElsewhere: Readonly<Record<string, readonly string[]>> = {
  'Files and programs of other users that steer this side, or stand where it looks and removes': [
    'test/config/trusted-files.test.ts',
    'test/base/own-directory.test.ts',
    'test/base/find-program.test.ts',
  ],
  'Names whose address changes or that carry data, hidden server names, redirects and upgrades (44, 45, 47, 50)':
    [
      'test/runtime/network/bypasses.test.ts',
      'test/runtime/network/dns-stub.test.ts',
      'test/runtime/network/hostile-http.test.ts',
    ],
  'Secrets sent where they may not go, and clients that accept no certificate of ours (51, 52)': [
    'test/runtime/network/opened.test.ts',
  ],
  'Previews, pages of other sites, tokens, and other tenants (53 to 56)': [
    'test/service/previews.test.ts',
    'test/cell/server/access.test.ts',
    'test/compat/e2b/tokens.test.ts',
    'test/service/tenants-attack.test.ts',
  ],
  'Markup in names, outputs and records (59)': [
    'test/console/console.test.ts',
    'test/console/timeline.test.ts',
  ],
  'Kernels, browsers, editors and MCP servers that say what they like (66 to 68)': [
    'test/cell/plugins/jupyter/faults.test.ts',
    'test/cell/plugins/browser/hostile.test.ts',
    'test/cell/plugins/vscode/editor-proxy.test.ts',
    'test/cell/plugins/mcp/mcp.test.ts',
    'test/fuzz/fuzz.test.ts',
  ],
  'One deed in many spellings, past the rules and the policy': [
    'test/runtime/security/parsed-forms.test.ts',
    'test/runtime/security/honest-work.test.ts',
    'test/compat/every-way-in.test.ts',
  ],
};

function elsewhere(): string[] {
  const lines = Object.entries(attackedElsewhere).map(
    ([what, files]) => `- ${what}: ${files.map((file) => `\`${file}\``).join(', ')}`,
  );
  return [
    '## Not on this page',
    '',
    'Attacks on the program that owns cells, on clients, pages and servers are the same whatever the backend is, so tests beside the',
    'code make them once. Of the numbers from 71 on, no case has 77 to 79 and 85 to 95.',
    '',
    ...lines,
    '',
  ];
}

function table(rows: readonly (readonly string[])[]): string[] {
  const [header = [], ...body] = rows.map((row) => `| ${row.join(' | ')} |`);
  return [header, `|${' --- |'.repeat(rows[0]?.length ?? 0)}`, ...body].flat();
}
