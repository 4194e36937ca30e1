import { randomBytes } from 'node:crypto';
import { Command, InvalidArgumentError } from 'commander';
import type { Runtime } from '../../index.js';
import { watchInterrupts } from '../interrupts.js';
import { type CellOptions, collect, withCellOptions } from '../options.js';

interface McpCommandOptions extends CellOptions {
  http?: { host: string; port: number };
  tokenFile?: string;
  allowRemote?: true;
  allowHost: string[];
  allowOrigin: string[];
  readOnly?: true;
  entry: string[];
  outputBytes: number;
}

const notes = `
Speaks MCP on standard input and output, or with --http as streamable HTTP at
/mcp, where every request needs the token that is printed or was given.

Examples:
  $ workcell mcp --workspace .
  $ workcell mcp --http 127.0.0.1:8710 --token-file t --backend sandbox
  $ claude mcp add cell -- npx workcell mcp --workspace .`;

/** `workcell mcp`: the runtime and its tools as an MCP server. */
export function mcpCommand(): Command {
  return withCellOptions(new Command('mcp').description('Serve a cell as an MCP server'))
    .option('--http <address>', 'serve streamable HTTP on <host>:<port> instead of stdio', parseAddress)
    .option('--token-file <file>', 'file that holds the token clients must send (default: a new one)')
    .option('--allow-remote', 'allow an address that other machines can reach')
    .option('--allow-host <name>', 'host name that requests may name; may be repeated', collect, [])
    .option('--allow-origin <origin>', 'web origin that may send requests; may be repeated', collect, [])
    .option('--entry <module>', 'module whose tools are offered, too; may be repeated', collect, [])
    .option('--read-only', 'offer only what changes nothing')
    .option('--output-bytes <number>', 'bytes of text that one answer carries', parseBytes, 32_768)
    .addHelpText('after', notes)
    .action(serve);
}

async function serve(options: McpCommandOptions): Promise<void> {
  const { startRuntime } = await import('../start.js');
  using interrupts = watchInterrupts();
  const { runtime, end } = await startRuntime(options, interrupts.signal);
  try {
    await addTools(runtime, options.entry);
    if (options.http === undefined) await serveStdio(runtime, options, interrupts.signal);
    else await serveHttp(runtime, options, interrupts.signal);
  } finally {
    await end();
  }
  const exitCode = interrupts.exitCode();
  process.exitCode = exitCode === 143 ? 0 : exitCode;
}

async function addTools(runtime: Runtime, entries: readonly string[]): Promise<void> {
  if (entries.length === 0) return;
  const { loadTools } = await import('../../index.js');
  for (const entry of entries) runtime.add(await loadTools(entry), entry);
}

async function serveStdio(runtime: Runtime, options: McpCommandOptions, signal: AbortSignal): Promise<void> {
  const { StdioServerTransport } = await import('@modelcontextprotocol/sdk/server/stdio.js');
  const server = await createServer(runtime, options);
  const ended = new Promise<void>((resolve) => {
    process.stdin.once('end', resolve);
    process.stdin.once('close', resolve);
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
  await server.connect(new StdioServerTransport());
  await ended;
  await server.close();
}

async function serveHttp(runtime: Runtime, options: McpCommandOptions, signal: AbortSignal): Promise<void> {
  const { serveMcpOverHttp } = await import('../../compat/mcp/http.js');
  const { readToken } = await import('../../cell/server/token.js');
  const given = readToken({ file: options.tokenFile });
  const token = given ?? randomBytes(24).toString('base64url');
  const create = await serverMaker(runtime, options);
  const { host, port } = options.http ?? { host: '127.0.0.1', port: 0 };
  const server = await serveMcpOverHttp(create, {
    host,
    port,
    token,
    allowRemote: options.allowRemote,
    hosts: options.allowHost,
    origins: options.allowOrigin,
  });
  if (given === undefined) process.stdout.write(`token: ${token}\n`);
  process.stdout.write(`listening on ${server.url}\n`);
  await new Promise<void>((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
  await server.close();
}

async function createServer(runtime: Runtime, options: McpCommandOptions) {
  return (await serverMaker(runtime, options))();
}

async function serverMaker(runtime: Runtime, options: McpCommandOptions) {
  const { createMcpServer } = await import('../../compat/mcp/server.js');
  return () =>
    createMcpServer(runtime, {
      budgetBytes: options.outputBytes,
      readOnly: options.readOnly === true,
    });
}

function parseAddress(text: string): { host: string; port: number } {
  const [, bracketed, plain, port] = /^(?:\[([\da-f:.]+)\]|([^:]+)):(\d{1,5})$/i.exec(text) ?? [];
  const host = bracketed ?? plain;
  if (host === undefined || Number(port) > 65_535)
    throw new InvalidArgumentError('Give <host>:<port>, such as 127.0.0.1:8710; port 0 takes a free one.');
  return { host, port: Number(port) };
}

function parseBytes(text: string): number {
  const bytes = Number(text);
  if (!Number.isInteger(bytes) || bytes < 1024 || bytes > 16_777_216)
    throw new InvalidArgumentError('Give a whole number from 1024 to 16777216.');
  return bytes;
}
