import { randomBytes } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import { Command, InvalidArgumentError } from 'commander';
import { watchInterrupts } from '../interrupts.js';
import { type CellOptions, collect, withCellOptions } from '../options.js';
import { toolsFrom } from '../tools-from.js';

interface CamelServerOptions extends CellOptions {
  entry: string[];
  port?: number;
  allowAnonymous?: true;
}

const notes = `
Serves tools, which run in a cell, to CAMEL's RemoteHttpRuntime. Entry points
are files or packages with "#export" behind them; JSON directly behind an entry
point is what its toolkit is made with. The token, from CAMEL_SERVER_TOKEN or
made up and printed, is the password of HTTP Basic: clients take
host="any:<token>@localhost". It listens on 127.0.0.1 only.

CAMEL can start it itself: RemoteHttpRuntime(host, port, python_exec=
"workcell-camel-server") calls it with the path of its own server, which is
ignored, and the entry points; CAMEL_SERVER_PORT names the port, else 8000.

Examples:
  $ workcell camel-server 8000 --entry ./my-tools.ts --entry workcell/toolkits/math
  $ workcell camel-server 8000 --entry './kit.ts#kit{"verbose":true}' --backend sandbox`;

/** `workcell camel-server`: tools in a cell for clients of CAMEL. */
export function camelServerCommand(): Command {
  return withCellOptions(new Command('camel-server').description('Serve tools in a cell to clients of CAMEL'))
    .argument('[port]', 'port to listen on, 0 takes any; or the server file that CAMEL names')
    .argument('[entrypoints...]', 'entry points, as CAMEL gives them')
    .option('--entry <entrypoint>', 'where tools come from; may be repeated', collect, [])
    .option('--allow-anonymous', 'do without a token')
    .addHelpText('after', notes)
    .action(serve);
}

async function serve(first: string | undefined, more: string[], options: CamelServerOptions): Promise<void> {
  const port = portOf(first ?? '8000');
  const { createCamelApp } = await import('../../compat/camel/app.js');
  const { splitEntrypoint } = await import('../../compat/camel/entrypoints.js');
  const { startRuntime } = await import('../start.js');
  // Taken out of the environment before anything that could pass it on to tools is started.
  const given = process.env.CAMEL_SERVER_TOKEN || undefined;
  delete process.env.CAMEL_SERVER_TOKEN;
  const token = given ?? (options.allowAnonymous ? undefined : randomBytes(24).toString('base64url'));
  using interrupts = watchInterrupts();
  const toolkits = [...new Set([...options.entry, ...more])];
  const lists = await Promise.all(
    toolkits.map((text) => {
      const { entrypoint, arguments: made } = splitEntrypoint(text);
      return toolsFrom(entrypoint, made);
    }),
  );
  const tools = lists.flat();
  const { runtime, end } = await startRuntime(options, interrupts.signal);
  try {
    // Of several with one name the first answers.
    runtime.add(tools.filter(({ name }, index) => tools.findIndex((tool) => tool.name === name) === index));
    const app = createCamelApp({
      token,
      toolkits,
      tools,
      call: (tool, input, signal) => runtime.callTool(tool, input, { signal }),
    });
    await app.listen({ host: '127.0.0.1', port });
    if (given === undefined && token !== undefined) process.stdout.write(`token: ${token}\n`);
    const { port: taken } = app.server.address() as AddressInfo;
    process.stdout.write(`listening on http://127.0.0.1:${taken}\n`);
    await new Promise<void>((resolve) => {
      if (interrupts.signal.aborted) resolve();
      interrupts.signal.addEventListener('abort', () => resolve(), { once: true });
    });
    await app.close();
  } finally {
    await end();
  }
  const exitCode = interrupts.exitCode();
  process.exitCode = exitCode === 143 ? 0 : exitCode;
}

/** CAMEL names its own server file in place of a port. */
function portOf(first: string): number {
  const text = first.endsWith('.py') ? process.env.CAMEL_SERVER_PORT || '8000' : first;
  if (/^\d{1,5}$/.test(text) && Number(text) <= 65_535) return Number(text);
  throw new InvalidArgumentError(`Give a port, a number up to 65535, not ${JSON.stringify(text)}.`);
}
