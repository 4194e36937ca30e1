/** Finds the tools of a module, here and in a cell. */

export const toolMarker = Symbol.for('workcell.tool');

/** A tool as its author wrote it. */
export interface Definition {
  readonly name: string;
  readonly parameters?: unknown;
  execute(input: never, context: never): unknown;
}

/** An imported module, and which of its tools to use. */
export interface Entry {
  readonly module: Readonly<Record<string, unknown>>;
  /** As the caller wrote it, for errors. */
  readonly shown: string;
  /** Which export; without it, all of the module. */
  readonly name?: string | undefined;
}

/** The tools of modules, in order. `given`: the argument for their factories. */
export async function collect(entries: readonly Entry[], given: unknown): Promise<Definition[]> {
  const tools: Definition[] = [];
  for (const entry of entries) tools.push(...(await fromEntry(entry, given)));
  const names = tools.map((tool) => tool.name);
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice === undefined) return tools;
  throw refuse(
    `${entries.map(({ shown }) => `"${shown}"`).join(' and ')}: two tools have the name "${twice}".`,
  );
}

/**
 * The tools of an export: a tool, a list of them, an object or class with `getTools()`, or a function that makes any
 * of these. Without a name: every tool and list that the module exports, else what its default export or its only
 * function makes.
 */
async function fromEntry({ module, shown, name }: Entry, given: unknown): Promise<Definition[]> {
  if (name !== undefined && !Object.hasOwn(module, name)) {
    const exported = Object.keys(module).join(', ') || 'nothing';
    throw refuse(`"${shown}" has no export "${name}". It exports: ${exported}.`);
  }
  const tools = await (name === undefined ? fromModule(module, given) : fromValue(module[name], given, true));
  if (tools.length > 0) return tools;
  throw refuse(
    `"${shown}" has no tools. Export what tool() gives, a list of that, or a function that makes one.`,
  );
}

async function fromModule(module: Entry['module'], given: unknown): Promise<Definition[]> {
  const direct = await Promise.all(Object.values(module).map((value) => fromValue(value, undefined, false)));
  const found = [...new Set(direct.flat())];
  if (found.length > 0) return found;
  const functions = Object.values(module).filter((value) => typeof value === 'function');
  return fromValue(module.default ?? (functions.length === 1 ? functions[0] : undefined), given, true);
}

async function fromValue(value: unknown, given: unknown, make: boolean): Promise<Definition[]> {
  if (Array.isArray(value))
    return (await Promise.all(value.map((entry) => fromValue(entry, given, false)))).flat();
  if (typeof value === 'function') return make ? fromValue(await construct(value, given), given, false) : [];
  if (typeof value !== 'object' || value === null) return [];
  if (toolMarker in value && 'definition' in value) return [value.definition as Definition];
  if ('getTools' in value && typeof value.getTools === 'function')
    return fromValue(await value.getTools(), given, false);
  return [];
}

// biome-ignore lint/complexity/noBannedTypes: it may be a class or a function
function construct(factory: Function, given: unknown): unknown {
  const isClass = /^class\b/.test(Function.prototype.toString.call(factory));
  return isClass ? Reflect.construct(factory, [given]) : factory(given);
}

/** Both sides of the wire know the code. */
function refuse(message: string): Error {
  return Object.assign(new Error(message), { code: 'invalid-tool' });
}
