/**
 * MCP servers that the owner of a runtime has named. They connect on the first use of MCP, because most work needs
 * none.
 */
import { untilAborted } from '../base/until-aborted.js';
import { WorkcellError, withoutSecrets } from '../protocol/index.js';
import type { McpServers } from '../protocol/mcp-server-schema.js';
import type { Trusted } from './pipeline.js';

type Take = Parameters<NonNullable<Trusted['before']>>[1];

/**
 * What the pipeline does before the actions that need the servers. Each server connects by itself. A server that does
 * not work fails the actions that name it, and each of these tries again; all other actions continue with the servers
 * that work.
 */
export function connectWhenUsed(servers: McpServers | undefined): Pick<Trusted, 'before'> {
  if (servers === undefined || Object.keys(servers).length === 0) return {};
  const named = new NamedServers(servers);
  return {
    before(action, take, signal) {
      if (action.action !== 'list_mcp_tools' && action.action !== 'call_tool_mcp') return undefined;
      const { server } = action as { readonly server?: string };
      const connecting = server === undefined ? named.connectAll(take) : named.demand(server, take);
      return untilAborted(connecting, signal, 'The connection to MCP servers');
    },
  };
}

class NamedServers {
  readonly #servers: McpServers;
  /** Servers that are connecting or connected, each with the reason if it does not work. */
  readonly #connected = new Map<string, Promise<string | undefined>>();
  readonly #failed = new Set<string>();

  constructor(servers: McpServers) {
    this.#servers = servers;
  }

  /** All but those that failed before: listing reports them, and starts them again. */
  async connectAll(take: Take): Promise<void> {
    const wanted = Object.keys(this.#servers).filter((name) => !this.#failed.has(name));
    await Promise.all(wanted.map((name) => this.#connect(name, take)));
  }

  /** Throws when this server does not work. */
  async demand(name: string, take: Take): Promise<void> {
    if (!Object.hasOwn(this.#servers, name)) return;
    const reason = await this.#connect(name, take);
    if (reason !== undefined) throw new WorkcellError('mcp-failed', reason, { details: { server: name } });
  }

  #connect(name: string, take: Take): Promise<string | undefined> {
    const known = this.#connected.get(name);
    if (known !== undefined) return known;
    const connecting = this.#take(name, take);
    this.#connected.set(name, connecting);
    return connecting;
  }

  async #take(name: string, take: Take): Promise<string | undefined> {
    const servers = { [name]: this.#servers[name] as McpServers[string] };
    let reason: string | undefined;
    try {
      const answer = await take({ action: 'connect_mcp', servers }, { servers: shown(servers) });
      reason = answer.servers.find(({ state }) => state === 'failed')?.reason;
    } catch (error) {
      this.#connected.delete(name);
      throw error;
    }
    if (reason === undefined) this.#failed.delete(name);
    else {
      this.#failed.add(name);
      this.#connected.delete(name);
    }
    return reason;
  }
}

/** Owners write keys into every one of these fields, so the record shows only which server it is. */
const kinds = {
  servers: {
    values: { fields: { args: 'secret', env: { values: 'secret' }, headers: { values: 'secret' } } },
  },
} as const;

function shown(servers: McpServers): McpServers {
  const places = Object.entries(servers).map(([name, server]) => [
    name,
    'url' in server ? { ...server, url: originOf(server.url) } : server,
  ]);
  return withoutSecrets({ kinds }, { servers: Object.fromEntries(places) as McpServers }).servers;
}

function originOf(url: string): string {
  return URL.canParse(url) ? new URL(url).origin : '[secret]';
}
