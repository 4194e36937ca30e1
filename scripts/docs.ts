/** Writes the reference pages, and tables within other pages, from the code: `npm run docs`. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { builtinPlugins } from '../src/cell/plugins/builtin.js';
import { routes } from '../src/cell/server/route-table.js';
import { createProgram } from '../src/cli/program.js';
import { unwrap } from '../src/config/config-schema.js';
import { generalSettings } from '../src/config/config-settings.js';
import { narrowingKeys } from '../src/config/narrowing.js';
import { marksOf } from '../src/protocol/config-marks.js';
import { type ActionTable, actions, errorTable, type Offered } from '../src/protocol/index.js';
import { codeToolkit } from '../src/runtime/tools/toolkits/code-toolkit.js';
import { filesToolkit } from '../src/runtime/tools/toolkits/files-toolkit.js';
import { gitToolkit } from '../src/runtime/tools/toolkits/git-toolkit.js';
import { mathToolkit } from '../src/runtime/tools/toolkits/math-toolkit.js';
import { searchToolkit } from '../src/runtime/tools/toolkits/search-toolkit.js';
import { terminalToolkit } from '../src/runtime/tools/toolkits/terminal-toolkit.js';
import { walls } from '../test/house/walls.js';
import { apiPage } from './api-page.js';
import { optionsPage } from './options-page.js';

const toolkits = {
  code: codeToolkit(),
  files: filesToolkit(),
  git: gitToolkit(),
  math: mathToolkit(),
  search: searchToolkit(),
  terminal: terminalToolkit(),
};

const plugins = await Promise.all(Object.values(builtinPlugins).map(async (load) => (await load()).default));

/** Every page with generated text: path from the checkout, and what it must say. */
export function pages(): Record<string, string> {
  return {
    'llms.txt': llmsText(),
    'docs/reference/api.md': [note, '', ...apiPage()].join('\n'),
    'docs/reference/errors.md': errorsPage(),
    'docs/reference/actions.md': actionsPage(),
    'docs/reference/settings.md': settingsPage(),
    'docs/reference/options.md': [note, '', ...optionsPage()].join('\n'),
    'docs/reference/cli.md': withTable('docs/reference/cli.md', 'commands', commandTable()),
    'docs/reference/http-api.md': withTable('docs/reference/http-api.md', 'routes', routeTable()),
    'docs/guides/plugins.md': withTable('docs/guides/plugins.md', 'plugins', pluginTable()),
    'ARCHITECTURE.md': architecturePage(),
    'docs/guides/toolkits.md': withTable('docs/guides/toolkits.md', 'toolkits', toolkitTable()),
  };
}

/** The page with the lines between the two marks of this table replaced. */
function withTable(path: string, name: string, rows: readonly string[]): string {
  const page = readFileSync(new URL(`../${path}`, import.meta.url), 'utf8');
  const begin = `<!-- Table \`${name}\`, written by \`npm run docs\` -->\n`;
  const end = '<!-- End of the table -->';
  const from = page.indexOf(begin);
  const to = page.indexOf(end, from);
  if (from < 0 || to < 0) throw new Error(`${path} has no place for the table ${name}.`);
  return [page.slice(0, from + begin.length), ...rows.map((row) => `${row}\n`), page.slice(to)].join('');
}

/** Fills in the last column of the table of folders. */
function architecturePage(): string {
  const page = readFileSync(new URL('../ARCHITECTURE.md', import.meta.url), 'utf8');
  return page.replaceAll(/^(\| `src\/([\w/-]+)\/` \|.*\|) [^|]* \|$/gm, (_, begin: string, part: string) => {
    const reached = walls[part]?.map((name) => `\`${name}\``) ?? [];
    return `${begin} ${reached.length === 0 ? 'zod only' : reached.join(', ')} |`;
  });
}

function commandTable(): string[] {
  const rows = createProgram().commands.flatMap((command) => {
    const inner = command.commands.filter((one) => one.name() !== 'help').map((one) => `\`${one.name()}\``);
    const more = inner.length === 0 ? '' : ` (${inner.join(', ')})`;
    return `| \`workcell ${command.name()}\` | ${command.description()}${more} |`;
  });
  return ['| command | what it does |', '|---|---|', ...rows];
}

/** What a model reads first: every page in a line, as the index of the docs lists them. */
function llmsText(): string {
  const index = readFileSync(new URL('../docs/README.md', import.meta.url), 'utf8');
  const sections = index.slice(index.indexOf('\n## ') + 1, index.indexOf('\n## Decisions'));
  return [
    '# Workcell',
    '',
    '> The place where an AI agent works: one TypeScript API, one server and one command line for shells, files, code cells, browsers and tools,',
    '> in interchangeable cells from a namespace sandbox to containers, pods and clouds, under one policy and with one record.',
    '',
    "Install with `npm install workcell` (Linux, Node 20.19 or newer). `npx workcell run --workspace . 'npm test'` runs a command in a fresh sandbox.",
    'How an agent uses it: [SKILL.md](skills/workcell/SKILL.md). Paths are those of the package.',
    '',
    sections.replaceAll(/\]\((?!\w+:)([^)]+)\)/g, '](docs/$1)').trimEnd(),
    '',
  ].join('\n');
}

function routeTable(): string[] {
  const rows = routes.map(({ method, path, query = {}, summary }) => {
    const names = Object.entries(query).filter(([, about]) => !about.startsWith('header:'));
    const asked = names.length === 0 ? '' : `?${names.map(([name]) => `${name}=`).join('&')}`;
    return `| \`${method.toUpperCase()} ${path}${asked}\` | ${summary} |`;
  });
  return ['| route | what it does |', '|---|---|', ...rows];
}

function pluginTable(): string[] {
  const rows = plugins.map(({ name, summary, actions: own }) => {
    const brought = Object.keys(own).map((action) => `\`${action}\``);
    return `| \`${name}\` | ${summary} | ${brought.join(', ') || 'none'} |`;
  });
  return ['| plugin | what it does | actions |', '|---|---|---|', ...rows];
}

function toolkitTable(): string[] {
  const rows = Object.entries(toolkits).map(
    ([name, tools]) =>
      `| \`workcell/toolkits/${name}\` | ${tools.map((tool) => `\`${tool.name}\``).join(', ')} |`,
  );
  return ['| entry | tools |', '|---|---|', ...rows];
}

const note = '<!-- Generated by `npm run docs`; do not edit. -->';

function errorsPage(): string {
  const rows = Object.entries(errorTable).map(
    ([code, { status, retryable, exitCode, summary }]) =>
      `| \`${code}\` | ${summary} | ${status} | ${retryable ? 'yes' : 'no'} | ${exitCode} |`,
  );
  return [
    note,
    '',
    '# Errors',
    '',
    'Every failure reaches the caller as a `WorkcellError` with `code`, `message`, `details` and `retryable`. A command',
    'that fails is not an error: it is a result with an `exitCode`.',
    '',
    'Retryable means that the same request may succeed later unchanged. The exit code is that of the command line.',
    '',
    '| code | meaning | HTTP status | retryable | exit code |',
    '|---|---|---|---|---|',
    ...rows,
    '',
  ].join('\n');
}

function settingsPage(): string {
  return [
    note,
    '',
    '# Settings',
    '',
    'Every key that a configuration file has, with its environment variable. [Configuration](configuration.md) says which file counts',
    'and who may set what; the sections of backends (`[backends.docker]`) take what the page of each [backend](backends/) lists, in snake',
    'case. Relative paths start at the directory of the file that names them.',
    '',
    ...generalSettings.flatMap(({ key, variable, schema }) => [
      `## \`${key}\``,
      '',
      `${marksOf(schema).about ?? ''} ${narrowingKeys.includes(key) ? 'The file of a project may make it stricter.' : ''}`.trim(),
      '',
      `${settingType(schema)} · \`${variable}\`${settingDefault(schema)}`,
      '',
      ...settingFields(schema),
    ]),
  ]
    .join('\n')
    .concat('\n')
    .replace(/\n{2,}$/, '\n');
}

/** The table of what one entry of a setting takes, where that is a table. */
function settingFields(schema: z.ZodType): string[] {
  const inner = unwrap(schema);
  const part =
    inner instanceof z.ZodArray ? inner.element : inner instanceof z.ZodRecord ? inner.valueType : inner;
  const shapes = part instanceof z.ZodUnion ? part.options : [part];
  return shapes.flatMap((shape) => {
    if (!(shape instanceof z.ZodObject)) return [];
    const rows = Object.entries(shape.shape as Record<string, z.ZodType>).map(([name, field]) => {
      const need = field.safeParse(undefined).success ? '' : 'needed';
      return `| \`${name}\` | ${settingType(field)} | ${need} | ${marksOf(field).about ?? ''} |`;
    });
    return ['| key | type | | |', '|---|---|---|---|', ...rows, ''];
  });
}

function settingType(schema: z.ZodType): string {
  return typeOf(z.toJSONSchema(unwrap(schema), { io: 'input', unrepresentable: 'any' }) as JsonSchema);
}

function settingDefault(schema: z.ZodType): string {
  const value = schema.parse(undefined);
  const isPlain = ['string', 'number', 'boolean'].includes(typeof value);
  return isPlain ? ` · default \`${JSON.stringify(value)}\`` : '';
}

function actionsPage(): string {
  return [
    note,
    '',
    '# Actions',
    '',
    "What an agent may ask, as JSON for `runtime.execute({ action: 'name', … })`, and what it gets back. Each observation",
    'carries the name of its action in `observation`. Failures are in [errors](errors.md).',
    '',
    ...sectionsOf(actions),
    ...plugins.flatMap(({ name, summary, actions: own }) => [
      `# Plugin \`${name}\``,
      '',
      summary,
      '',
      ...sectionsOf(own),
    ]),
  ].join('\n');
}

const offeredTexts: Record<Offered, readonly string[]> = {
  always: [],
  'by-name': ['A model gets it when you name it, or ask for all.'],
  'for-owner': ['For the owner of the cell: a model gets it only when you name it.'],
  never: ['No tool for a model.'],
};

function sectionsOf(table: ActionTable): string[] {
  return Object.values(table).flatMap(({ name, summary, readOnly, offered, input, output }) => [
    `## \`${name}\``,
    '',
    [summary, ...(readOnly ? ['Changes nothing in the cell.'] : []), ...offeredTexts[offered]].join(' '),
    '',
    ...fieldTable('Action', input, 'action', 'input', commentsOf(name, 'input')),
    ...fieldTable('Observation', output, 'observation', 'output', commentsOf(name, 'output')),
  ]);
}

interface JsonSchema {
  type?: string | string[];
  const?: unknown;
  enum?: unknown[];
  anyOf?: JsonSchema[];
  items?: JsonSchema;
  properties?: Record<string, JsonSchema>;
  additionalProperties?: JsonSchema | boolean;
  required?: string[];
  default?: unknown;
  minimum?: number;
  exclusiveMinimum?: number;
  maximum?: number;
}

function fieldTable(
  title: string,
  schema: z.ZodType,
  tag: string,
  io: 'input' | 'output',
  comments: Map<string, string>,
): string[] {
  const { properties = {}, required = [] } = z.toJSONSchema(schema, { io }) as JsonSchema;
  const names = Object.keys(properties).filter((name) => name !== tag);
  if (names.length === 0) return [`${title}: no further fields.`, ''];
  const rows = names.map((name) => {
    const field = properties[name] ?? {};
    const need = required.includes(name) ? 'always' : defaultOf(field);
    return `| \`${name}\` | ${typeOf(field)} | ${need} | ${comments.get(name) ?? ''} |`;
  });
  return [`| ${title} field | type | present | |`, '|---|---|---|---|', ...rows, ''];
}

/** The files that declare actions: in the protocol, and in the folder of each plugin. */
const sources = [
  'src/protocol/actions',
  ...Object.keys(builtinPlugins).map((name) => `src/cell/plugins/${name}`),
]
  .map((folder) => new URL(`../${folder}/`, import.meta.url))
  .flatMap((folder) =>
    readdirSync(folder)
      .filter((file) => file.endsWith('.ts'))
      .map((file) => readFileSync(new URL(file, folder), 'utf8')),
  );

/** What the doc comments beside the fields of an action say; fields from a shared shape have theirs there. */
function commentsOf(action: string, part: 'input' | 'output'): Map<string, string> {
  const marker = `defineAction('${action}'`;
  const source = sources.find((text) => text.includes(marker));
  if (source === undefined) throw new Error(`No file of the protocol or a plugin has ${marker}.`);
  const [before = '', own = ''] = source.split(marker);
  const [body = ''] = own.split('\n});');
  const [input = '', output = ''] = body.split(/\n {2}(?:output: |get output\(\))/);
  return new Map([
    ...fieldComments(sharedShapes(before)),
    ...fieldComments(part === 'input' ? input : output),
  ]);
}

/** The source without the bodies of the actions in it. */
function sharedShapes(source: string): string {
  return source.replace(/defineAction\([\s\S]*?\n\}\);/g, '');
}

function fieldComments(source: string): [string, string][] {
  return [...source.matchAll(/\/\*\* (.*?) \*\/\n\s+(\w+):/g)].map(([, text = '', name = '']) => [
    name,
    text,
  ]);
}

function defaultOf({ default: value }: JsonSchema): string {
  return value === undefined ? 'optional' : `default \`${JSON.stringify(value)}\``;
}

function typeOf(schema: JsonSchema): string {
  const { type, enum: choices, anyOf, items, properties, additionalProperties } = schema;
  if (schema.const !== undefined) return `\`${JSON.stringify(schema.const)}\``;
  if (choices !== undefined) return choices.map((choice) => `\`${choice}\``).join(' or ');
  if (anyOf !== undefined) return anyOf.map(typeOf).join(' or ');
  if (Array.isArray(type)) return type.join(' or ');
  if (type === 'array') return `list of ${typeOf(items ?? {})}`;
  if (properties !== undefined) return `{ ${Object.keys(properties).join(', ')} }`;
  if (typeof additionalProperties === 'object') return `map to ${typeOf(additionalProperties)}`;
  if (type === 'integer' || type === 'number') return `${type}${rangeOf(schema)}`;
  return String(type ?? 'anything');
}

function rangeOf({ minimum, exclusiveMinimum, maximum }: JsonSchema): string {
  const bounds = [
    minimum !== undefined && minimum > Number.MIN_SAFE_INTEGER ? `≥ ${minimum}` : '',
    exclusiveMinimum !== undefined ? `> ${exclusiveMinimum}` : '',
    maximum !== undefined && maximum < Number.MAX_SAFE_INTEGER ? `≤ ${maximum}` : '',
  ].filter(Boolean);
  return bounds.length === 0 ? '' : ` ${bounds.join(', ')}`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  for (const [path, text] of Object.entries(pages())) {
    writeFileSync(fileURLToPath(new URL(`../${path}`, import.meta.url)), text);
  }
}
