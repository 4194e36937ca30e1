/** MCP servers in the cell: started there or reached from there, with sessions that last. */
import { definePlugin } from '../plugin.js';
import { mcpActions } from './mcp-actions.js';

export default definePlugin({
  name: 'mcp',
  version: '1.0.0',
  summary: 'Tools of MCP servers that run in the cell, or that the cell connects to.',
  actions: mcpActions,
  async initialize(cell) {
    const { Servers } = await import('./servers.js');
    const servers = new Servers(cell);
    return {
      handlers: {
        connect_mcp: ({ servers: given, timeoutMs }, { signal }) =>
          servers.connect(given, { timeoutMs, signal }),
        disconnect_mcp: async ({ server }) => {
          await servers.disconnect(server);
          return { server };
        },
        list_mcp_tools: ({ server }, { signal }) => servers.list(server, signal),
        call_tool_mcp: (action, context) => servers.call(action, context),
      },
      dispose: () => servers.close(),
    };
  },
});
