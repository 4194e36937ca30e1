import { Command, InvalidArgumentError, Option } from 'commander';
import { parseSeconds } from '../../base/command-line.js';
import type { ListenAddress } from '../../base/http/http-options.js';
import { parseListen } from '../../base/http/listen-option.js';
import type { Runtime } from '../../index.js';
import { type AlsoOptions, addTools, mountsOf, withAlso } from '../also.js';
import { watchInterrupts } from '../interrupts.js';
import { exposureOf, type ServerOptions, takeToken, withServerOptions } from '../server-options.js';
import { takeTrusted } from '../trusted-options.js';

type Trusted = Awaited<ReturnType<typeof takeTrusted>>;

interface McpCommandOptions extends ServerOptions, AlsoOptions {
  http?: ListenAddress;
  readOnly?: true;
  outputBytes: number;
  tools?: readonly string[] | true;
  handBack: number;
  structured?: true;
}

const notes = `
Speaks MCP on standard input and output, or with --listen as streamable HTTP at
/mcp. There every request needs the token that you give, or that it prints, and
every client has a shell of its own in the one cell.

Examples:
  $ workcell mcp --workspace .
  $ workcell mcp --tools run,read,edit,start_process,wait_process
  $ workcell mcp --listen 127.0.0.1:8710 --token-file t --backend sandbox
  $ claude mcp add cell -- npx workcell mcp --workspace .`;

/** `workcell mcp`: the runtime and its tools as an MCP server. */
export function mcpCommand(): Command {
  return withAlso(withServerOptions(new Command('mcp').description('Serve a cell as an MCP server')), 'mcp')
    .option('--http <address>', 'the same as --listen', parseListen)
    .option('--read-only', 'offer only what changes nothing')
    .option('--tools <names>', 'the actions to offer, by commas, or "all" (default: about ten)', parseTools)
    .option('--output-bytes <number>', 'bytes of text that one answer carries', parseBytes, 32_768)
    .addOption(
      new Option('--hand-back <seconds>', 'hand a command back, still running, after this time')
        .argParser(parseSeconds)
        .default(45_000, '45'),
    )
    .option('--structured', 'send the fields of an answer, too, which some clients show instead of the text')
    .addHelpText('after', notes)
    .action(serve);
}

async function serve(options: McpCommandOptions): Promise<void> {
  const listen = options.listen ?? options.http;
  if (options.also.length > 0) {
    if (listen === undefined)
      throw new InvalidArgumentError('--also needs --listen: standard input and output carry MCP alone.');
    if (options.readOnly)
      throw new InvalidArgumentError(
        '--also and --read-only exclude each other: the other protocols can write.',
      );
  }
  const trusted = await takeTrusted(options);
  return listen === undefined ? serveStdio(options, trusted) : serveHttp({ ...options, listen }, trusted);
}

async function serveStdio(options: McpCommandOptions, trusted: Trusted): Promise<void> {
  const { StdioServerTransport } = await import('@modelcontextprotocol/sdk/server/stdio.js');
  const { startRuntime } = await import('../start-runtime.js');
  using interrupts = watchInterrupts();
  const { signal } = interrupts;
  const { runtime, end } = await startRuntime(options, signal, { ...trusted, offersTools: true });
  try {
    await addTools(runtime, options.entry);
    const server = (await serverMaker(runtime, options))();
    const ended = new Promise<void>((resolve) => {
      process.stdin.once('end', resolve);
      process.stdin.once('close', resolve);
      signal.addEventListener('abort', () => resolve(), { once: true });
    });
    await server.connect(new StdioServerTransport());
    await ended;
    await server.close();
  } finally {
    await end();
  }
  const exitCode = interrupts.exitCode();
  process.exitCode = exitCode === 143 ? 0 : exitCode;
}

async function serveHttp(
  options: McpCommandOptions & { listen: ListenAddress },
  trusted: Trusted,
): Promise<void> {
  const { serveMcpOverHttp } = await import('../../compat/mcp/http.js');
  const { serveRuntime } = await import('../serve-runtime.js');
  const { token, isNew } = await takeToken(options);
  await serveRuntime(options, trusted, async (runtime) => {
    await addTools(runtime, options.entry);
    const server = await serveMcpOverHttp(
      await serverMaker(runtime, options),
      { ...exposureOf(options, options.listen), token },
      await mountsOf(options, runtime, token),
    );
    return { server, path: '/mcp', secret: isNew ? `token: ${token}` : undefined };
  });
}

async function serverMaker(runtime: Runtime, options: McpCommandOptions) {
  const { createMcpServer } = await import('../../compat/mcp/mcp-server.js');
  const { listTools } = await import('../../compat/mcp/mcp-tools.js');
  const { outputBytes: budgetBytes, readOnly, tools: actions, handBack: handBackMs, structured } = options;
  const offered = { budgetBytes, readOnly, actions, handBackMs, structured };
  // A name that does not exist ends the start, not the first request.
  listTools(runtime, offered);
  return (session?: string) => createMcpServer(runtime, { ...offered, session });
}

function parseTools(text: string): readonly string[] | true {
  const names = text.split(',').map((name) => name.trim());
  if (names.includes(''))
    throw new InvalidArgumentError('Give names of actions, separated by commas, or "all".');
  return text.trim() === 'all' ? true : names;
}

function parseBytes(text: string): number {
  const bytes = Number(text);
  if (!Number.isInteger(bytes) || bytes < 1024 || bytes > 16_777_216)
    throw new InvalidArgumentError('Give a whole number from 1024 to 16777216.');
  return bytes;
}
