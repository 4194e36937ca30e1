/** Lists that must agree: actions and handlers, tables in pages and the code, backends and what belongs to each. */
import { existsSync, readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { pages } from '../../scripts/docs.js';
import { backends } from '../../src/backends/index.js';
import { handlers } from '../../src/cell/executor/handlers/index.js';
import { builtinPlugins } from '../../src/cell/plugins/builtin.js';
import { createProgram } from '../../src/cli/program.js';
import {
  type ActionTable,
  actionNames,
  actions,
  errorCodes,
  eventSchema,
  type FieldKind,
  verbs,
} from '../../src/protocol/index.js';
import { fileActivities } from '../../src/runtime/security/audit/export.js';
import { changers, lookers } from '../../src/testing/abuse/file-verbs.js';
import { expectOnPage } from '../abuse/scorecard.js';
import { checkout, filesBelow, markdownPages, readText } from './source.js';

test('every action has a handler and every handler an action', () => {
  expect(Object.keys(handlers).sort()).toEqual([...actionNames].sort());
});

test('every action is listed under its own name', () => {
  for (const [key, { name, input, output }] of Object.entries(actions)) {
    expect(name).toBe(key);
    expect(input.shape.action.value).toBe(key);
    expect(output.shape.observation.value).toBe(key);
  }
});

describe('every action that names a file', () => {
  const isPath = (kind: FieldKind) =>
    /^path(?!-cwd)/.test(typeof kind === 'string' ? kind : 'kind' in kind ? kind.kind : '');
  const named = Object.values(actions)
    .filter(({ kinds }) => Object.values<FieldKind>(kinds).some(isPath))
    .map(({ name }) => name);

  test('is an activity on files in the exported audit', () => {
    expect(named.filter((name) => !(name in fileActivities))).toEqual([]);
  });

  test('is among the verbs that are tried on paths outside of a cell', () => {
    const tried = Object.keys({ ...lookers, ...changers }).map((verb) => verb.replace('makeDir', 'make_dir'));
    expect(named.filter((name) => !tried.includes(name))).toEqual([]);
  });
});

describe('what runs once with guards on and once with secrets set', async () => {
  const plugins = await Promise.all(
    Object.values(builtinPlugins).map(async (load) => (await load()).default),
  );
  const tables: ActionTable[] = [actions, verbs, ...plugins.map((plugin) => plugin.actions)];

  test('is every action and every verb', () => {
    const text = trustedSuites.map(readText).join('\n');
    const missing = tables.flatMap(Object.keys).filter((name) => {
      const call = callOf[name];
      return !text.includes(`action: '${name}'`) && (call === undefined || !text.includes(call));
    });
    expect(missing, `none of ${trustedSuites.join(', ')} does it`).toEqual([]);
  });

  test('is every adapter', () => {
    const adapters = Object.keys(JSON.parse(readText('package.json')).exports)
      .filter((entry) => entry.startsWith('./adapters/'))
      .map((entry) => entry.slice('./adapters/'.length));
    const text = readText('test/adapters/trusted.test.ts');
    expect(adapters.filter((name) => !text.includes(`src/adapters/${name}.js'`))).toEqual([]);
    expect(adapters.length).toBeGreaterThan(5);
  });

  test('is every facade', () => {
    const text = ['every-way-in', 'every-way-into-a-service']
      .map((name) => readText(`test/compat/${name}.test.ts`))
      .join('\n');
    const folders = readdirSync(join(checkout, 'src/compat'), { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => name);
    expect(folders.filter((name) => !text.includes(`src/compat/${name}/`))).toEqual([]);
    expect(folders.length).toBeGreaterThan(5);
  });
});

/** Those that run under both dimensions of `test/contract/dimensions.ts`. */
const trustedSuites = [
  ...filesBelow('src/testing/contract/behaviours', '.ts'),
  'test/cell/plugins/trusted-verbs.test.ts',
  ...filesBelow('test/runtime/git', '.test.ts').filter((file) =>
    readText(file).includes('each(trustedPlaces)'),
  ),
];

/** How a suite calls those that it does not name. */
const callOf: Readonly<Record<string, string>> = {
  run: 'runtime.run(',
  read: 'runtime.read(',
  write: 'runtime.write(',
  edit: 'runtime.edit(',
  list: 'files.list(',
  stat: 'files.stat(',
  make_dir: 'files.makeDir(',
  remove: 'files.remove(',
  move: 'files.move(',
  copy: 'files.copy(',
  watch: 'files.watch(',
  glob: 'files.glob(',
  grep: 'files.grep(',
  start_process: 'processes.start(',
  write_process: 'processes.write(',
  list_processes: 'processes.list(',
  get_process: 'processes.get(',
  signal_process: 'processes.signal(',
  wait_process: 'processes.wait(',
  get_env: 'env.get(',
  set_env: 'env.set(',
  unset_env: 'env.unset(',
  stats: 'runtime.stats(',
  upload: 'files.upload(',
  download: 'files.download(',
  open_terminal: 'terminals.open(',
  open_port: 'ports.forward(',
  git: 'git.status(',
  set_up_repository: 'git.prepare(',
  run_python_file: 'runtime.execPythonFile(',
  browse: 'runtime.browse(',
  open_cdp: 'browser.cdpUrl(',
  run_code: 'runtime.runCode(',
  connect_mcp: 'mcp.connect(',
  disconnect_mcp: 'mcp.disconnect(',
  list_mcp_tools: 'mcp.tools(',
  call_tool_mcp: 'mcp.call(',
  install_tools: 'runtime.add(',
  reset_tools: 'runtime.reset(',
  open_vscode: 'vscode.url(',
  vscode_status: 'vscode.status(',
  stop_vscode: 'vscode.stop(',
};

test('every error code has its line in docs/reference/errors.md', () => {
  const page = readText('docs/reference/errors.md');
  expect(errorCodes.filter((code) => !page.includes(`| \`${code}\` |`))).toEqual([]);
});

test('every action has its entry in docs/reference/actions.md', () => {
  const page = readText('docs/reference/actions.md');
  expect(actionNames.filter((name) => !page.includes(`## \`${name}\`\n`))).toEqual([]);
});

test.each(Object.entries(pages()))('%s says what the schemas say; npm run docs rewrites it', (path, text) => {
  expect(readText(path)).toBe(text);
});

describe('backends', async () => {
  const files = filesBelow('src/backends', '.ts').filter((file) => /^export default /m.test(readText(file)));
  const types = files.map((file) =>
    basename(file) === 'index.ts' ? basename(join(file, '..')) : basename(file, '.ts'),
  );

  test('each file that exports a backend has its line in the registry, and no line is without a file', () => {
    expect(Object.keys(backends).sort()).toEqual(types.sort());
  });

  test.each(types)('%s is called the same everywhere and has a test and a page', async (type) => {
    const { default: backend } = await backends[type as keyof typeof backends]();
    expect(backend.type).toBe(type);
    for (const path of [`test/backends/${type}.test.ts`, `docs/reference/backends/${type}.md`]) {
      expect(existsSync(join(checkout, path)), `${path} exists`).toBe(true);
    }
  });
});

const names = Object.keys(backends) as (keyof typeof backends)[];
const optionsOf = async (name: keyof typeof backends) =>
  Object.keys((await backends[name]()).default.options.shape);

test.each(names)('the page of backend %s lists its options', async (name) => {
  const path = `docs/reference/backends/${name}.md`;
  const shared = name === 'ubuntu-docker' ? optionRows('docs/reference/backends/docker.md') : [];
  const options = await optionsOf(name);
  expect(optionRows(path).filter((option) => !options.includes(option))).toEqual([]);
  expect(options.filter((option) => ![...optionRows(path), ...shared].includes(option))).toEqual([]);
});

test.each(['README.md', 'docs/README.md', 'docs/start/choose-a-backend.md'])(
  '%s lists every backend',
  (page) => {
    expect(names.filter((name) => !readText(page).includes(`/backends/${name}.md)`))).toEqual([]);
  },
);

test('every option of workcell that a page names exists', async () => {
  const flags = new Set(['--help', '--version']);
  const commands = createProgram().commands.flatMap((command) => [command, ...command.commands]);
  for (const { options } of commands)
    for (const { long, short } of options) for (const flag of [long, short]) if (flag) flags.add(flag);
  for (const name of names)
    for (const option of await optionsOf(name))
      flags.add(`--${option.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`);
  const unknown = markdownPages()
    .filter((page) => page === 'README.md' || page.startsWith('docs/'))
    .flatMap((page) =>
      workcellLines(page)
        .flatMap((line) => line.match(/(?<=\s)--[a-z][a-z-]+/g) ?? [])
        .filter((flag) => !flags.has(flag))
        .map((flag) => `${page} names ${flag}`),
    );
  expect(unknown).toEqual([]);
});

test('every error code that a page names exists', () => {
  const unknown = markdownPages()
    .filter((page) => page.startsWith('docs/') && !page.startsWith('docs/decisions/'))
    .flatMap((page) =>
      [
        ...readText(page).matchAll(
          /\b(?:fails?|refused?|refuses?)\s+(?:\w+\s+){0,6}?with\s+`([a-z]+(?:-[a-z]+)*)`/g,
        ),
      ]
        .map((match) => match[1] ?? '')
        .filter((code) => !(errorCodes as readonly string[]).includes(code))
        .map((code) => `${page} names ${code}`),
    );
  expect(unknown).toEqual([]);
});

test('docs/guides/events.md lists every kind of event', () => {
  const kinds = eventSchema.options.map(({ shape }) => shape.kind.value);
  const [row = ''] = readText('docs/guides/events.md').match(/^\| `kind` \|.*$/m) ?? [];
  expect(kinds.filter((kind) => !row.includes(`\`${kind}\``))).toEqual([]);
});

test('docs/reference/scorecard.md is as the attacks write it', () => expectOnPage({}));

test('docs/guides/security.md counts the attacks as the scorecard does', () => {
  const [header = [], ...cases] = rowsOf('docs/reference/scorecard.md', '| case |');
  const count = (title: string, result: RegExp) =>
    cases.filter((row) => result.test(row[header.indexOf(title)] ?? '')).length;
  const summary = rowsOf('docs/guides/security.md', '| cells |').slice(1);
  const titles = ['sandbox, root', 'sandbox, plain user', 'docker', 'docker, gVisor', 'kubernetes'];
  expect(summary.map(([, attacks, held, open = '']) => [attacks, held, open.split(':')[0]])).toEqual(
    titles.map((title) =>
      [/held|not claimed/, /held/, /not claimed/].map((result) => `${count(title, result)}`),
    ),
  );
});

test('docs/guides/plugins.md lists every kind of field', () => {
  const source = readText('src/protocol/kinds.ts');
  const kinds = new Set(
    [
      ...[
        ...(source.match(/const simpleKinds = \[[\s\S]*?\n\]/)?.[0] ?? '').matchAll(/^ {2}'([a-z-]+)',$/gm),
      ],
      ...source.matchAll(/readonly kind: '([a-z-]+)'/g),
    ].map((match) => match[1] ?? ''),
  );
  const listed = rowsOf('docs/guides/plugins.md', '| kind |')
    .slice(1)
    .flatMap(([first = '']) => [...first.matchAll(/`([a-z-]+)`/g)].map((match) => match[1] ?? ''));
  expect(kinds.size).toBeGreaterThan(10);
  expect(listed.sort()).toEqual([...kinds].sort());
});

/** The options in the first column of a page's table of options; of `limits.cpus` the first part. */
function optionRows(page: string): string[] {
  const cells = rowsOf(page, '| option').map(([first = '']) => first);
  const all = cells.flatMap((cell) =>
    [...cell.matchAll(/`(\w+)(?:\.\w+)?`/g)].map((match) => match[1] ?? ''),
  );
  return [...new Set(all)];
}

/** The rows of the first table whose header begins so, without the line below the header. */
function rowsOf(page: string, header: string): string[][] {
  const text = readText(page);
  const from = text.indexOf(`\n${header}`) + 1;
  const [table = ''] = text.slice(from).split('\n\n');
  return table
    .split('\n')
    .filter((line) => line.startsWith('|') && !/^\|[-| ]+\|$/.test(line))
    .map((line) =>
      line
        .slice(1, -1)
        .split(' | ')
        .map((cell) => cell.trim()),
    );
}

/** Command lines in code blocks that start workcell, up to a comment. */
function workcellLines(page: string): string[] {
  const blocks = [...readText(page).matchAll(/^```[\w ]*\n([\s\S]*?)^```$/gm)].map((match) => match[1] ?? '');
  return blocks
    .flatMap((block) => block.replaceAll('\\\n', ' ').split('\n'))
    .filter((line) => /^(?:\$ )?(?:[A-Z_]+=\S+ )*(?:npx )?workcell /.test(line))
    .map((line) => line.split(' # ')[0]?.replaceAll(/'[^']*'|"[^"]*"/g, '') ?? '');
}
