/** A runtime as an MCP server, without a transport. */
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import {
  CallToolRequestSchema,
  ErrorCode,
  ListResourcesRequestSchema,
  ListResourceTemplatesRequestSchema,
  ListToolsRequestSchema,
  McpError,
  ReadResourceRequestSchema,
} from '@modelcontextprotocol/sdk/types.js';
import { packageVersion } from '../../base/package-version.js';
import type { Runtime } from '../../index.js';
import { type Progress, WorkcellError } from '../../protocol/index.js';
import { fileTemplate, listResources, readResource } from './mcp-resources.js';
import { callTool, listTools, type McpOptions } from './mcp-tools.js';

const messageCharacters = 4096;

type Notify = (notification: {
  method: 'notifications/progress';
  params: { progressToken: string | number; progress: number; message: string };
}) => Promise<void>;

export function createMcpServer(runtime: Runtime, options: McpOptions): McpServer {
  const mcp = new McpServer(
    { name: 'workcell', version: packageVersion() },
    { capabilities: { tools: {}, resources: {} }, instructions: instructions(runtime) },
  );
  // The offer changes with the registered tools, so compute it on each request.
  const { server } = mcp;
  const languages = new Set<unknown>();
  server.onclose = () => void leave(runtime, options.session, languages);
  server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: listTools(runtime, options) }));
  server.setRequestHandler(CallToolRequestSchema, ({ params }, { signal, sendNotification, _meta }) => {
    if (params.name === 'run_code') languages.add(params.arguments?.language);
    const token = _meta?.progressToken;
    const onProgress = token === undefined ? undefined : forward(token, sendNotification);
    return asked(() =>
      callTool(runtime, params.name, params.arguments ?? {}, options, { signal, onProgress }),
    );
  });
  server.setRequestHandler(ListResourcesRequestSchema, () =>
    asked(async () => ({ resources: await listResources(runtime) })),
  );
  server.setRequestHandler(ListResourceTemplatesRequestSchema, () => ({ resourceTemplates: [fileTemplate] }));
  server.setRequestHandler(ReadResourceRequestSchema, ({ params }) =>
    asked(() => readResource(runtime, params.uri)),
  );
  return mcp;
}

function instructions({ backend, isolation, workspace }: Runtime): string {
  return `Everything runs in one cell (backend ${backend}, isolation ${isolation.tier}). The workspace is ${workspace}; relative paths start there. Shell sessions of "run" keep their state.`;
}

/** A client with a session of its own leaves neither its shell nor its kernels behind. */
async function leave(
  runtime: Runtime,
  session: string | undefined,
  languages: Iterable<unknown>,
): Promise<void> {
  if (session === undefined) return;
  const kernels = [...languages].map((language = 'python') => ({
    action: 'control_context',
    operation: 'close',
    context: session,
    language,
  }));
  const endings = [{ action: 'close_session', session }, ...kernels];
  // The shell or kernel may not exist, and the cell may be closing.
  await Promise.allSettled(endings.map((action) => runtime.execute(action as never)));
}

/** Reports output as the program prints it. The number counts characters; the message has the newest of them. */
function forward(progressToken: string | number, notify: Notify): (progress: Progress) => Promise<void> {
  let characters = 0;
  return async (progress) => {
    if (progress.type !== 'output-delta') return;
    characters += progress.text.length;
    const message = progress.text.slice(-messageCharacters);
    await notify({
      method: 'notifications/progress',
      params: { progressToken, progress: characters, message },
    });
  };
}

/** A failure outside of a tool's own answer is an error of the protocol. */
async function asked<Answer>(work: () => Promise<Answer>): Promise<Answer> {
  try {
    return await work();
  } catch (error) {
    if (!WorkcellError.isInstance(error)) throw error;
    const code = error.code === 'internal' ? ErrorCode.InternalError : ErrorCode.InvalidParams;
    throw new McpError(code, error.message, { code: error.code });
  }
}
