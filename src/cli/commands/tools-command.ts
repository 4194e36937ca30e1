import { Command, InvalidArgumentError, Option } from 'commander';
import { collect } from '../../base/command-line.js';
import { toolsFrom } from '../../runtime/tools/tools-from.js';
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
of its exports; a file that ends in .py is Python. To read the schemas, this
runs JavaScript and TypeScript modules on your machine, Python files not.

Examples:
  $ workcell tools list --entry ./my-tools.ts
  $ workcell tools call add '{"a":1,"b":2}' --entry workcell/toolkits/math --backend sandbox
  $ workcell tools call greet '{"name":"you"}' --entry ./tools.py`;

/** `workcell tools`: looks at tools, and calls one in a fresh cell. */
export function toolsCommand(): Command {
  const tools = new Command('tools')
    .description('List tools, or call one in a cell')
    .addHelpText('after', notes);
  const list = withEntries(new Command('list').description('List the tools of entry points'))
    .option('--json', 'print one line of JSON, with the schemas')
    .option('--strict', 'print the schemas as strict ones for OpenAI, with --json')
    .action(printTools);
  const call = withCellOptions(
    withEntries(new Command('call').description('Call a tool in a fresh cell'), false),
  )
    .argument('<tool>', 'name of the tool')
    .argument('[arguments]', 'its arguments, as a JSON object', parseObject, {})
    .action(callTool);
  for (const command of [list, call]) {
    command
      .exitOverride()
      .helpOption('-h, --help', 'print help')
      .configureOutput({ outputError: () => {} });
    tools.addCommand(command);
  }
  return tools;
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

async function printTools(options: EntryOptions & { json?: true; strict?: true }): Promise<void> {
  const { openaiTool } = await import('../../index.js');
  const tools = await load(options);
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

/** The result goes to standard output as JSON, what the tool prints to standard error. */
async function callTool(
  name: string,
  input: Record<string, unknown>,
  options: EntryOptions & CellOptions,
): Promise<void> {
  const { startRuntime } = await import('../start-runtime.js');
  const tools = await load(options);
  using interrupts = watchInterrupts();
  const { runtime, end } = await startRuntime(options, interrupts.signal, {
    offersTools: options.entry.length === 0,
  });
  try {
    runtime.add(tools, undefined, { redirectStdout: ({ text }) => process.stderr.write(plainText(text)) });
    const { result } = await runtime.callTool(name, input, { signal: interrupts.signal });
    process.stdout.write(`${JSON.stringify(result)}\n`);
  } finally {
    await end();
  }
}

async function load({ entry, arguments: given }: EntryOptions) {
  return (await Promise.all(entry.map((entrypoint) => toolsFrom(entrypoint, given)))).flat();
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
