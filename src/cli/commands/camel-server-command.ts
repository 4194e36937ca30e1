import { Command, InvalidArgumentError } from 'commander';
import type { FunctionTool, Runtime } from '../../index.js';
import { isToldInside, toolsFrom } from '../../runtime/tools/tools-from.js';
import { type AlsoOptions, mountsOf, withAlso } from '../also.js';
import { exposureOf, type ServerOptions, takeToken, withServerOptions } from '../server-options.js';
import { takeTrusted } from '../trusted-options.js';

interface CamelServerOptions extends ServerOptions, AlsoOptions {
  port?: number;
  allowAnonymous?: true;
}

const notes = `
Serves tools, which run in a cell, to CAMEL's RemoteHttpRuntime. An entry point
is a file or a package with "#export" behind it, or a dotted name of Python such
as camel.toolkits.MathToolkit, which the cell's Python imports; JSON directly
behind it is the arguments of its toolkit. The token is the password of HTTP Basic, so clients
take host="any:<token>@localhost". Set it as CAMEL_SERVER_TOKEN, or the server
prints a new one. It listens on 127.0.0.1 unless you pass --listen.

CAMEL can start it itself: RemoteHttpRuntime(host, port, python_exec=
"workcell-camel-server") calls it with the path of its own server, which it
ignores, and the entry points; CAMEL_SERVER_PORT names the port, else 8000.

Examples:
  $ workcell camel-server 8000 --entry ./my-tools.ts --entry workcell/toolkits/math
  $ workcell camel-server 8000 --entry './kit.ts#kit{"verbose":true}' --backend sandbox`;

/** `workcell camel-server`: tools in a cell for clients of CAMEL. */
export function camelServerCommand(): Command {
  return withAlso(
    withServerOptions(new Command('camel-server').description('Serve tools in a cell to clients of CAMEL')),
    'camel',
  )
    .argument('[port]', 'port to listen on, 0 takes any; or the server file that CAMEL names')
    .argument('[entrypoints...]', 'entry points, as CAMEL gives them')
    .option('--allow-anonymous', 'accept requests without a token')
    .addHelpText('after', notes)
    .action(serve);
}

async function serve(first: string | undefined, more: string[], options: CamelServerOptions): Promise<void> {
  const port = portOf(first ?? '8000');
  const { serveCamel } = await import('../../compat/camel/camel-app.js');
  const { serveRuntime } = await import('../serve-runtime.js');
  const { allowAnonymous } = options;
  const { token, isNew } = await takeToken(options, { variable: 'CAMEL_SERVER_TOKEN', allowAnonymous });
  const trusted = await takeTrusted(options);
  const toolkits = [...new Set([...options.entry, ...more])];
  const found = await Promise.all(toolkits.map((text) => toolsFrom(text)));
  // Serves the tools of the configuration where the command line names none.
  const given = { ...trusted, offersTools: toolkits.length === 0 };
  await serveRuntime(options, given, async (runtime) => {
    // Clients count the seconds until a server answers, and a Python toolkit takes some to import.
    const tools = toolkits.length === 0 ? runtime.getTools() : register(runtime, found);
    const server = await serveCamel(
      runtime,
      { ...exposureOf(options, { host: '127.0.0.1', port }), token, allowAnonymous, toolkits, tools },
      await mountsOf(options, runtime, token),
    );
    return { server, secret: isNew ? `token: ${token}` : undefined, ready: Promise.resolve(tools) };
  });
}

/** Returns all of them, and registers the first of each name: that one answers. */
async function register(
  runtime: Runtime,
  found: readonly Awaited<ReturnType<typeof toolsFrom>>[],
): Promise<readonly FunctionTool[]> {
  const lists = found.map((entry) => (isToldInside(entry) ? runtime.findTools(entry) : entry));
  const tools = (await Promise.all(lists)).flat();
  runtime.add(tools.filter(({ name }, index) => tools.findIndex((tool) => tool.name === name) === index));
  return tools;
}

/** CAMEL names its own server file in place of a port. */
function portOf(first: string): number {
  const text = first.endsWith('.py') ? process.env.CAMEL_SERVER_PORT || '8000' : first;
  if (/^\d{1,5}$/.test(text) && Number(text) <= 65_535) return Number(text);
  throw new InvalidArgumentError(`Give a port, a number up to 65535, not ${JSON.stringify(text)}.`);
}
