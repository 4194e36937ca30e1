/** One MCP server: its session, its tools as it last listed them, and a new session when it loses the old one. */
import { createHash } from 'node:crypto';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import {
  CallToolResultSchema,
  ListToolsResultSchema,
  ToolListChangedNotificationSchema,
} from '@modelcontextprotocol/sdk/types.js';
import { untilAborted } from '../../../base/until-aborted.js';
import { WorkcellError } from '../../../protocol/index.js';
import type { PluginCell } from '../plugin.js';
import { type CellFetch, createCellFetch } from './cell-fetch.js';
import { CellStdioTransport } from './cell-stdio.js';
import type { McpTool, ServerConfig } from './mcp-actions.js';
import { describeFailure, notInTime } from './mcp-failures.js';

const mostTools = 1000;
const mostPages = 100;
const longestTool = 256 * 1024;
const longestList = 4 * 1024 * 1024;

interface Session {
  readonly client: Client;
  readonly end: () => Promise<void>;
  lost: boolean;
}

export interface Waiting {
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
}

export class Connection {
  readonly name: string;
  readonly #cell: PluginCell;
  readonly #config: ServerConfig;
  readonly #closing = new AbortController();
  #session: Promise<Session> | undefined;
  /** The session that started last. */
  #current: Session | undefined;
  /** What the last list showed: name to digest. */
  #shown = new Map<string, string>();
  #tools: readonly McpTool[] = [];
  /** The server said that its tools changed, or they may have changed without a connection. */
  #stale = true;

  constructor(name: string, config: ServerConfig, cell: PluginCell) {
    this.name = name;
    this.#config = config;
    this.#cell = cell;
  }

  /** The current tools. From now on you can call these. */
  async list(waiting: Waiting): Promise<readonly McpTool[]> {
    await this.#refresh(waiting);
    this.#shown = new Map(this.#tools.map((tool) => [tool.name, digest(tool)]));
    return this.#tools;
  }

  has(tool: string): boolean {
    return this.#shown.has(tool);
  }

  /** Refuses a tool that changed since it was listed, because the approval was for the old one. */
  async call(name: string, args: Record<string, unknown>, waiting: Waiting) {
    const { client } = await this.#open(waiting);
    if (this.#stale) await this.#refresh(waiting);
    const tool = this.#tools.find((candidate) => candidate.name === name);
    if (tool === undefined || digest(tool) !== this.#shown.get(name)) {
      const what = tool === undefined ? 'was withdrawn' : 'was changed';
      throw new WorkcellError(
        'tool-changed',
        `Tool "${name}" of MCP server "${this.name}" ${what} since it was listed. List the tools again and decide anew.`,
        { details: { server: this.name, tool: name } },
      );
    }
    // Do not use the client's own method, which checks the answer with a program that it compiles from the server's
    // schema.
    const params = { name, arguments: args };
    return this.#asking(() =>
      client.request({ method: 'tools/call', params }, CallToolResultSchema, limits(waiting)),
    );
  }

  /** Closes for good, and cancels a start that others wait for. */
  async close(): Promise<void> {
    this.#closing.abort();
    const session = await this.#session?.catch(() => undefined);
    await session?.end();
  }

  /**
   * The next use starts a new session. Leaves alone one that is just starting, because another caller waits for it.
   */
  async endSession(): Promise<void> {
    await this.#current?.end();
  }

  async #refresh(waiting: Waiting): Promise<void> {
    const { client } = await this.#open(waiting);
    this.#stale = false;
    const tools: McpTool[] = [];
    const begun = performance.now();
    let bytes = 0;
    let pages = 0;
    let cursor: string | undefined;
    do {
      if (++pages > mostPages) throw tooManyPages(this.name);
      // All pages together have the time of one answer.
      const timeoutMs = Math.max(1, waiting.timeoutMs - (performance.now() - begun));
      const params = cursor === undefined ? {} : { cursor };
      const page = await this.#asking(() =>
        client.request(
          { method: 'tools/list', params },
          ListToolsResultSchema,
          limits({ ...waiting, timeoutMs }),
        ),
      );
      for (const { name, description, inputSchema, annotations } of page.tools) {
        const tool = { server: this.name, name, description, inputSchema, annotations };
        const length = JSON.stringify(tool).length;
        bytes += length;
        if (length > longestTool || bytes > longestList || tools.length === mostTools)
          throw tooLarge(this.name, name, length);
        tools.push(tool);
      }
      cursor = page.nextCursor;
    } while (cursor !== undefined && tools.length < mostTools);
    this.#tools = tools;
  }

  async #open(waiting: Waiting): Promise<Session> {
    if (this.#current?.lost === false && !this.#closing.signal.aborted) return this.#current;
    for (;;) {
      const pending = this.#session ?? Promise.resolve(undefined);
      const known = await this.#within(
        pending.catch(() => undefined),
        waiting,
      );
      // Another caller that waited has begun a new session.
      if (this.#session !== undefined && this.#session !== pending) continue;
      if (known !== undefined && !known.lost) return known;
      this.#stale = true;
      this.#session = this.#start(known, waiting);
      return this.#session;
    }
  }

  async #start(lost: Session | undefined, waiting: Waiting): Promise<Session> {
    await lost?.end();
    const { transport, end, complaint } = await this.#transport();
    const client = new Client({ name: 'workcell', version: '1.0.0' }, { capabilities: {} });
    let ending: Promise<void> | undefined;
    const session: Session = {
      client,
      lost: false,
      end: () => {
        session.lost = true;
        ending ??= client
          .close()
          .catch(() => {})
          .then(end);
        return ending;
      },
    };
    client.onclose = () => {
      session.lost = true;
    };
    // The client reports a line that is no message here; the session continues.
    client.onerror = () => {};
    client.setNotificationHandler(ToolListChangedNotificationSchema, () => {
      this.#stale = true;
    });
    try {
      await this.#within(client.connect(transport, { timeout: waiting.timeoutMs }), waiting);
      this.#current = session;
      return session;
    } catch (error) {
      await session.end();
      throw describeFailure(this.name, error, complaint());
    }
  }

  /** Whatever a transport does, nobody waits for longer than they want to, or after the connection closes. */
  async #within<Result>(work: Promise<Result>, { timeoutMs, signal }: Waiting): Promise<Result> {
    const late = AbortSignal.timeout(timeoutMs);
    const any = [late, this.#closing.signal, ...(signal === undefined ? [] : [signal])];
    try {
      return await untilAborted(work, AbortSignal.any(any), `The start of MCP server "${this.name}"`);
    } catch (error) {
      throw late.aborted ? notInTime(this.name) : error;
    }
  }

  async #transport(): Promise<{ transport: Transport; end(): Promise<void>; complaint(): string }> {
    const config = this.#config;
    if ('command' in config) {
      const transport = new CellStdioTransport(this.#cell, config);
      return { transport, end: () => transport.close(), complaint: () => transport.complaint };
    }
    const cellFetch = createCellFetch(this.#cell);
    const transport = await httpTransport(config, cellFetch);
    return { transport, end: () => cellFetch.close(), complaint: () => '' };
  }

  async #asking<Answer>(ask: () => Promise<Answer>): Promise<Answer> {
    try {
      return await ask();
    } catch (error) {
      throw describeFailure(this.name, error, '');
    }
  }
}

async function httpTransport(
  { url, type, headers }: Extract<ServerConfig, { url: string }>,
  { fetch }: CellFetch,
): Promise<Transport> {
  const options = { fetch, requestInit: { headers } };
  if (type === 'sse') {
    const { SSEClientTransport } = await import('@modelcontextprotocol/sdk/client/sse.js');
    return new SSEClientTransport(new URL(url), options);
  }
  const { StreamableHTTPClientTransport } = await import(
    '@modelcontextprotocol/sdk/client/streamableHttp.js'
  );
  return new StreamableHTTPClientTransport(new URL(url), options) as Transport;
}

function limits({ timeoutMs, signal }: Waiting): { timeout: number; signal?: AbortSignal } {
  return { timeout: timeoutMs, ...(signal !== undefined && { signal }) };
}

function digest(tool: McpTool): string {
  return createHash('sha256').update(JSON.stringify(tool)).digest('hex');
}

function tooManyPages(server: string): WorkcellError {
  return new WorkcellError(
    'file-too-large',
    `MCP server "${server}" lists its tools on more than ${mostPages} pages, which is the limit.`,
    { details: { server } },
  );
}

function tooLarge(server: string, tool: string, length: number): WorkcellError {
  return new WorkcellError(
    'file-too-large',
    `MCP server "${server}" describes its tools at too great a length: "${tool}" alone has ${length} characters. The limit is ${mostTools} tools, ${longestTool} characters each and ${longestList} together.`,
    { details: { server, tool } },
  );
}
