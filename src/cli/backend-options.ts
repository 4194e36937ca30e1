/** The options of the backend that a command line names, such as `--url` with `--backend remote`. */
import { type Command, Option } from 'commander';
import { z } from 'zod';
import { backendNames, loadBackend } from '../backends/index.js';
import { fromText, toSnakeCase, unwrap } from '../config/config-schema.js';

/** Gives every command that starts a cell the options of the backend that is named, if one is. */
export async function addBackendOptions(program: Command, words: readonly string[]): Promise<void> {
  await addPlaceOptions(program, words);
  const name = namedBackend(words);
  if (name === undefined) return;
  const shape = (await loadBackend(name)).options.shape as Record<string, z.ZodType>;
  for (const command of program.commands.filter(takesBackend)) {
    const taken = new Set(command.options.map((option) => option.attributeName()));
    for (const [key, schema] of Object.entries(shape)) {
      if (!taken.has(key)) command.addOption(toOption(key, schema).helpGroup(`Options of backend ${name}:`));
    }
  }
}

/** Commands that look for cells of all backends take what any of them takes to find its own. */
async function addPlaceOptions(program: Command, words: readonly string[]): Promise<void> {
  const looking = program.commands.find((command) => command.name() === 'cells');
  if (looking === undefined || words[0] !== looking.name()) return;
  const { keepers } = await import('../cells.js');
  for (const { type, place } of await keepers()) {
    for (const [key, schema] of Object.entries(place.shape as Record<string, z.ZodType>)) {
      for (const command of looking.commands) {
        const taken = command.options.some((option) => option.attributeName() === key);
        if (!taken) command.addOption(toOption(key, schema).helpGroup(`Where cells of backend ${type} are:`));
      }
    }
  }
}

/** What was given of a backend's own options. */
export async function givenBackendOptions(
  backend: string | undefined,
  options: Readonly<Record<string, unknown>>,
): Promise<Record<string, unknown>> {
  if (backend === undefined || !isBackend(backend)) return {};
  const { shape } = (await loadBackend(backend)).options;
  const reserved = ['workspace', 'env'];
  return Object.fromEntries(
    Object.entries(options).filter(([key]) => Object.hasOwn(shape, key) && !reserved.includes(key)),
  );
}

function namedBackend(words: readonly string[]): string | undefined {
  const joined = words.find((word) => word.startsWith('--backend='));
  const index = words.findIndex((word) => word === '--backend' || word === '-b');
  const name = joined?.slice('--backend='.length) ?? (index === -1 ? undefined : words[index + 1]);
  return name !== undefined && isBackend(name) ? name : undefined;
}

function takesBackend(command: Command): boolean {
  return command.options.some((option) => option.attributeName() === 'backend');
}

function isBackend(name: string): boolean {
  return (backendNames as readonly string[]).includes(name);
}

function toOption(key: string, schema: z.ZodType): Option {
  const flag = `--${toSnakeCase(key).replaceAll('_', '-')}`;
  const inner = unwrap(schema);
  if (inner instanceof z.ZodBoolean) return new Option(flag);
  if (inner instanceof z.ZodArray) return toListOption(flag, schema, inner.element as z.ZodType);
  const plain = inner instanceof z.ZodString || inner instanceof z.ZodEnum || inner instanceof z.ZodNumber;
  const option = new Option(`${flag} <${plain ? 'value' : 'json'}>`);
  if (inner instanceof z.ZodEnum) option.choices(inner.options.map(String));
  return option.argParser((text: string) => fromText(text, schema));
}

/** One entry each time it is given, or all of them as JSON. */
function toListOption(flag: string, schema: z.ZodType, element: z.ZodType): Option {
  const kind = unwrap(element) instanceof z.ZodString ? 'value' : 'json';
  return new Option(`${flag} <${kind}>`, 'may be given several times').argParser(
    (text: string, before: unknown[] | undefined) => {
      const all = fromText(text, schema);
      return [...(before ?? []), ...(Array.isArray(all) ? all : [fromText(text, element)])];
    },
  );
}
