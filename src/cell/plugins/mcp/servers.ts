/** The MCP servers of one cell, by name. */
import type { z } from 'zod';
import { type ExecuteContext, WorkcellError } from '../../../protocol/index.js';
import type { PluginCell } from '../plugin.js';
import type { callToolMcp, McpTool, ServerConfig } from './mcp-actions.js';
import { Connection, type Waiting } from './mcp-connection.js';

const mostServers = 64;
const longestResult = 64 * 1024 * 1024;
const listMs = 30_000;

interface ServerInfo {
  name: string;
  state: 'connected' | 'failed';
  reason?: string;
  tools: number;
}

export class Servers {
  readonly #cell: PluginCell;
  readonly #connections = new Map<string, Connection>();
  /** Why the last list lacks the tools of a server. */
  readonly #failed = new WeakMap<Connection, string>();

  constructor(cell: PluginCell) {
    this.#cell = cell;
  }

  /** Connects all at once. A server that fails says why and does not hold the others up. */
  async connect(
    given: Readonly<Record<string, ServerConfig>>,
    waiting: Waiting,
  ): Promise<{ servers: ServerInfo[] }> {
    const names = Object.keys(given);
    if (new Set([...this.#connections.keys(), ...names]).size > mostServers)
      throw new WorkcellError(
        'invalid-action',
        `You can connect at most ${mostServers} MCP servers. Disconnect one first.`,
      );
    const servers = names.map(async (name): Promise<ServerInfo> => {
      await this.#connections.get(name)?.close();
      const connection = new Connection(name, given[name] as ServerConfig, this.#cell);
      this.#connections.set(name, connection);
      return (await this.#list(connection, waiting)).info;
    });
    return { servers: await Promise.all(servers) };
  }

  async disconnect(name: string): Promise<void> {
    const connection = this.#find(name);
    this.#connections.delete(name);
    await connection.close();
  }

  async list(
    server: string | undefined,
    signal: AbortSignal | undefined,
  ): Promise<{ tools: McpTool[]; servers: ServerInfo[] }> {
    // By name, so that an agent meets the tools in the same order however long each server takes.
    const names = server === undefined ? [...this.#connections.keys()].sort() : [server];
    const asked = names.map((name) => this.#find(name));
    const answers = await Promise.all(
      asked.map((connection) => this.#list(connection, { timeoutMs: listMs, signal })),
    );
    return {
      tools: answers.flatMap(({ tools }) => tools),
      servers: answers.map(({ info }) => info),
    };
  }

  async call(action: z.output<typeof callToolMcp.input>, { signal }: ExecuteContext) {
    const { name, arguments: args, timeoutMs } = action;
    const connection = action.server === undefined ? this.#owner(name) : this.#find(action.server);
    const result = await connection.call(name, args, { timeoutMs, signal });
    if (JSON.stringify(result).length > longestResult) {
      throw new WorkcellError(
        'file-too-large',
        `The answer of tool "${name}" has more than ${longestResult} characters, which is the limit.`,
        { details: { server: connection.name, tool: name } },
      );
    }
    return {
      server: connection.name,
      name,
      content: (result.content ?? []) as { type: string }[],
      structuredContent: result.structuredContent as Record<string, unknown> | undefined,
      isError: result.isError === true,
    };
  }

  async close(): Promise<void> {
    await Promise.allSettled([...this.#connections.values()].map((connection) => connection.close()));
  }

  async #list(
    connection: Connection,
    waiting: Waiting,
  ): Promise<{ tools: readonly McpTool[]; info: ServerInfo }> {
    const { name } = connection;
    try {
      const tools = await connection.list(waiting);
      this.#failed.delete(connection);
      return { tools, info: { name, state: 'connected', tools: tools.length } };
    } catch (error) {
      if (!WorkcellError.isInstance(error) || waiting.signal?.aborted) throw error;
      await connection.endSession();
      this.#failed.set(connection, error.message);
      return { tools: [], info: { name, state: 'failed', reason: error.message, tools: 0 } };
    }
  }

  #owner(tool: string): Connection {
    const owners = [...this.#connections.values()].filter((connection) => connection.has(tool));
    const [owner] = owners;
    if (owner !== undefined && owners.length === 1) return owner;
    const names = owners.map(({ name }) => name).join(', ');
    const missing = [...this.#connections.values()].map((connection) => this.#failed.get(connection));
    const reasons = missing.filter((reason) => reason !== undefined).map((reason) => ` ${reason}`);
    const message =
      owner === undefined
        ? `No connected MCP server has a tool "${tool}". list_mcp_tools tells what there is.${reasons.join('')}`
        : `Several MCP servers have a tool "${tool}": ${names}. Say which with "server".`;
    throw new WorkcellError(owner === undefined ? 'tool-not-found' : 'invalid-action', message, {
      details: { tool },
    });
  }

  #find(name: string): Connection {
    const connection = this.#connections.get(name);
    if (connection !== undefined) return connection;
    const known = [...this.#connections.keys()].join(', ') || 'none';
    throw new WorkcellError(
      'tool-not-found',
      `There is no MCP server "${name}". Connected servers: ${known}.`,
      { details: { server: name } },
    );
  }
}
