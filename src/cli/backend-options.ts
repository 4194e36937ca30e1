/** The options of the backend that a command line names, such as `--url` with `--backend remote`. */
import { type Command, Option } from 'commander';
import { z } from 'zod';
import type { Backend } from '../backends/backend.js';
import { backendNames, loadBackend } from '../backends/index.js';
import { fromText, toSnakeCase, unwrap } from '../config/config-schema.js';
import { resolveBackend } from '../config/outside-backends.js';
import { readBackend } from './typed-backend.js';

/** Adds the options of the named backend, if any, to every command that starts a cell. `create` makes such a program. */
export async function addBackendOptions(
  program: Command,
  words: readonly string[],
  create: () => Command,
): Promise<void> {
  const backend = await typedBackend(await namedBackend(words, create));
  await addPlaceOptions(program, words, backend);
  if (backend !== undefined) addOptionsOf(backend, program);
}

async function namedBackend(words: readonly string[], create: () => Command): Promise<string | undefined> {
  const { backend, rest } = readBackend(words, create);
  if (backend !== undefined || !rest?.startsWith('-')) return backend;
  // The words before `--backend` may be options of it. Without a name, we know only those of this package.
  const own = await Promise.all(backendNames.map(loadBackend));
  return readBackend(words, () => {
    const program = create();
    for (const each of own) addOptionsOf(each, program);
    return program;
  }).backend;
}

function addOptionsOf(backend: Backend, program: Command): void {
  const shape = backend.options.shape as Record<string, z.ZodType>;
  for (const command of program.commands.filter(takesBackend)) {
    for (const [key, schema] of flagsOf(backend, shape))
      addOption(command, toOption(key, schema).helpGroup(`Options of backend ${backend.type}:`));
  }
}

/** Commands that look for cells of all backends take what any of them takes to find its own. */
async function addPlaceOptions(
  program: Command,
  words: readonly string[],
  named: Backend | undefined,
): Promise<void> {
  const looking = program.commands.find((command) => command.name() === 'cells');
  if (looking === undefined || words[0] !== looking.name()) return;
  const { keepers } = await import('../cells.js');
  const known = [...(await keepers()).map(({ backend }) => backend), ...(named === undefined ? [] : [named])];
  for (const backend of known) {
    const { type, place } = backend;
    for (const [key, schema] of flagsOf(backend, place.shape as Record<string, z.ZodType>)) {
      for (const command of looking.commands)
        addOption(command, toOption(key, schema).helpGroup(`Where cells of backend ${type} are:`));
    }
  }
}

/** Everybody on this machine can read the arguments of a program, so secrets come from files, settings or code. */
function flagsOf({ secrets = [] }: Backend, shape: Record<string, z.ZodType>): [string, z.ZodType][] {
  return Object.entries(shape).filter(([name]) => !secrets.includes(name));
}

/** The given options of a backend. A flag of the command itself with the same name is none. */
export function givenBackendOptions(options: object): Record<string, unknown> {
  const given = Object.entries(options).filter(([name]) => name.startsWith(marked));
  return Object.fromEntries(given.map(([name, value]) => [name.slice(marked.length), value]));
}

/** The typed backend. Where there is none of that name, the code that starts it reports that. */
export async function typedBackend(spec: string | undefined): Promise<Backend | undefined> {
  if (spec === undefined) return undefined;
  let name: string;
  try {
    name = resolveBackend(spec, { source: 'option', from: process.cwd() });
  } catch {
    return undefined;
  }
  return loadBackend(name);
}

function takesBackend(command: Command): boolean {
  return command.options.some((option) => option.attributeName() === 'backend');
}

/** Prefixes the names that hold values of backends' options, apart from those of the command. */
const marked = 'backend:';

/** Do not replace an option that the command already has. */
function addOption(command: Command, option: Option): void {
  if (!command.options.some(({ long }) => long === option.long)) command.addOption(option);
}

function toOption(key: string, schema: z.ZodType): Option {
  const option = toPlainOption(key, schema);
  option.attributeName = () => `${marked}${key}`;
  return option;
}

function toPlainOption(key: string, schema: z.ZodType): Option {
  const flag = `--${toSnakeCase(key).replaceAll('_', '-')}`;
  const inner = unwrap(schema);
  if (inner instanceof z.ZodBoolean) return new Option(flag);
  if (inner instanceof z.ZodArray) return toListOption(flag, schema, inner.element as z.ZodType);
  const plain = inner instanceof z.ZodString || inner instanceof z.ZodEnum || inner instanceof z.ZodNumber;
  const option = new Option(`${flag} <${plain ? 'value' : 'json'}>`);
  if (inner instanceof z.ZodEnum) option.choices(inner.options.map(String));
  return option.argParser((text: string) => fromText(text, schema));
}

/** Takes one entry each time, or all of them as JSON. */
function toListOption(flag: string, schema: z.ZodType, element: z.ZodType): Option {
  const kind = unwrap(element) instanceof z.ZodString ? 'value' : 'json';
  return new Option(`${flag} <${kind}>`, 'may be given several times').argParser(
    (text: string, before: unknown[] | undefined) => {
      const all = fromText(text, schema);
      return [...(before ?? []), ...(Array.isArray(all) ? all : [fromText(text, element)])];
    },
  );
}
