import { Command, InvalidArgumentError, Option } from 'commander';
import { collect } from '../../base/command-line.js';
import type { FunctionTool, Runtime } from '../../index.js';
import { isToldInside, toolsFrom } from '../../runtime/tools/tools-from.js';
import { type CellOptions, withCellOptions } from '../cell-options.js';
import { watchInterrupts } from '../interrupts.js';
import { plainText } from '../sanitize.js';
import { formatTable } from '../text-table.js';

interface EntryOptions {
  entry: string[];
  arguments?: unknown;
}

const notes = `
An entry point is a file or a package, with "#export" behind it to choose one
of its exports; a file that ends in .py is Python, and so is the dotted name of
something in a Python module. JSON directly behind it is what its toolkit is
made with. To read the schemas, this runs JavaScript and TypeScript modules on
your machine. Python files are only read; Python classes and names are imported
in a cell, which list starts for them with the options of your configuration.

Examples:
  $ workcell tools list --entry ./my-tools.ts
  $ workcell tools call add '{"a":1,"b":2}' --entry workcell/toolkits/math --backend sandbox
  $ workcell tools call greet '{"name":"you"}' --entry ./tools.py
  $ workcell tools list --entry camel.toolkits.MathToolkit --backend cli`;

/** `workcell tools`: looks at tools, and calls one in a fresh cell. */
export function toolsCommand(): Command {
  const tools = new Command('tools')
    .description('List tools, or call one in a cell')
    .addHelpText('after', notes);
  const list = withCellOptions(withEntries(new Command('list').description('List the tools of entry points')))
    .option('--json', 'print one line of JSON, with the schemas')
    .option('--strict', 'print the schemas as strict ones for OpenAI, with --json')
    .action(printTools);
  const call = withCellOptions(
    withEntries(new Command('call').description('Call a tool in a fresh cell'), false),
  )
    .argument('<tool>', 'name of the tool')
    .argument('[arguments]', 'its arguments, as a JSON object', parseObject, {})
    .action(callTool);
  return tools.addCommand(list).addCommand(call);
}

/** Without them a cell has the tools of the configuration. */
function withEntries(command: Command, needed = true): Command {
  const entry = new Option('--entry <entrypoint>', 'where the tools come from; may be repeated')
    .argParser(collect)
    .makeOptionMandatory(needed);
  return command
    .addOption(needed ? entry : entry.default([], 'those of the configuration'))
    .option('--arguments <json>', 'arguments for the function or class that makes the tools', parseJson);
}

async function printTools(
  options: EntryOptions & CellOptions & { json?: true; strict?: true },
): Promise<void> {
  const { openaiTool } = await import('../../index.js');
  const tools = await list(options);
  if (options.json) {
    const shown = tools.map((tool) => openaiTool(tool, { strict: options.strict === true }).function);
    process.stdout.write(`${JSON.stringify(shown)}\n`);
    return;
  }
  const rows = tools.map(({ name, description, parameters }) => [
    name,
    Object.keys((parameters.properties as object | undefined) ?? {}).join(' '),
    plainText(description.split('\n')[0] ?? ''),
  ]);
  process.stdout.write(`${formatTable(['TOOL', 'PARAMETERS', 'ABOUT'], rows)}\n`);
}

/** The result goes to standard output as JSON, the tool's own output to standard error. */
async function callTool(
  name: string,
  input: Record<string, unknown>,
  options: EntryOptions & CellOptions,
): Promise<void> {
  const { startRuntime } = await import('../start-runtime.js');
  const found = await read(options);
  using interrupts = watchInterrupts();
  const { runtime, end } = await startRuntime(options, interrupts.signal, {
    offersTools: options.entry.length === 0,
  });
  try {
    runtime.add(await settle(runtime, found), undefined, {
      redirectStdout: ({ text }) => process.stderr.write(plainText(text)),
    });
    const { result } = await runtime.callTool(name, input, { signal: interrupts.signal });
    process.stdout.write(`${JSON.stringify(result)}\n`);
  } finally {
    await end();
  }
}

/** Starts a cell only for tools that nothing else can list. */
async function list(options: EntryOptions & CellOptions): Promise<readonly FunctionTool[]> {
  const found = await read(options);
  if (!found.some(isToldInside)) return found.flatMap((entry) => (isToldInside(entry) ? [] : entry));
  const { startRuntime } = await import('../start-runtime.js');
  using interrupts = watchInterrupts();
  const { runtime, end } = await startRuntime(options, interrupts.signal);
  try {
    return await settle(runtime, found);
  } finally {
    await end();
  }
}

function read({ entry, arguments: given }: EntryOptions) {
  return Promise.all(entry.map((entrypoint) => toolsFrom(entrypoint, given)));
}

async function settle(
  runtime: Runtime,
  found: Awaited<ReturnType<typeof read>>,
): Promise<readonly FunctionTool[]> {
  const lists = found.map((entry) => (isToldInside(entry) ? runtime.findTools(entry) : entry));
  return (await Promise.all(lists)).flat();
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new InvalidArgumentError(`Give JSON. ${error instanceof Error ? error.message : ''}`);
  }
}

function parseObject(text: string): Record<string, unknown> {
  const value = parseJson(text);
  if (typeof value === 'object' && value !== null && !Array.isArray(value))
    return value as Record<string, unknown>;
  throw new InvalidArgumentError('Give a JSON object with the arguments by name.');
}
