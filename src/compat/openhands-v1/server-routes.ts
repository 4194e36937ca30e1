/** Health, readiness and what this server is. */

import type { FastifyInstance } from 'fastify';
import type { FacadeContext } from './facade-context.js';
import { toolNames } from './missing-routes.js';
import { words } from './openhands-v1-messages.js';

/** The version of the protocol that this speaks; clients compare it with what they need. */
const protocolVersion = '1.43.1';

/**
 * The server has native routes with two of these names. Of two routes the server takes the one with a constraint, and
 * every request that gets this far has a host.
 */
const instead = { config: { keyless: true }, constraints: { host: /./ } };

export function serverRoutes(app: FastifyInstance, { activity, executor, say }: FacadeContext): void {
  const ok = async () => ({ status: 'ok' });
  app.get('/alive', instead, ok);
  app.get('/health', instead, ok);

  app.get('/ready', instead, async (_request, reply) => {
    try {
      await executor().execute({ action: 'stat', path: '.' });
      return { status: 'ready' };
    } catch {
      return reply.code(503).send({ status: 'initializing', message: say(words('http.not_ready')) });
    }
  });

  const info = async () => ({
    uptime: activity.uptimeSeconds,
    idle_time: activity.idleSeconds,
    title: 'OpenHands Agent Server',
    version: protocolVersion,
    sdk_version: protocolVersion,
    tools_version: protocolVersion,
    workspace_version: protocolVersion,
    build_git_sha: 'unknown',
    build_git_ref: 'unknown',
    python_version: 'none; this is Workcell',
    usable_tools: toolNames,
    runtime_idle_timeout_seconds: null,
    capabilities: [],
    max_foreground_terminal_timeout_seconds: null,
    docs: '/docs',
    redoc: '/docs',
  });
  app.get('/server_info', instead, info);
  app.get('/', instead, info);
}
