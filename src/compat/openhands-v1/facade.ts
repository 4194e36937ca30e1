/** The workspace half of the OpenHands V1 agent-server, as routes on top of an executor. */
import type { IncomingHttpHeaders } from 'node:http';
import type { FastifyInstance } from 'fastify';
import type { Log, ServerParts } from '../../cell/server/executor-server-options.js';
import { WorkcellError } from '../../protocol/index.js';
import { type Catalogue, speaker } from '../messages.js';
import { Activity } from './activity.js';
import { BashEvents } from './bash/bash-events.js';
import { bashRoutes } from './bash/bash-routes.js';
import { bashSocket } from './bash/bash-socket.js';
import { BashCommands } from './bash/commands.js';
import { answerBrowsers } from './browsers.js';
import { Refusal, sendFailure } from './detail-errors.js';
import type { FacadeContext } from './facade-context.js';
import { fileRoutes } from './files/workspace-routes.js';
import { gitRoutes } from './git/git-routes.js';
import { missingRoutes } from './missing-routes.js';
import { defaultV1Messages, words } from './openhands-v1-messages.js';
import { serverRoutes } from './server-routes.js';
import { createSessionKeys } from './session-key-check.js';
import { savedWorkspaces } from './settings/saved-workspaces.js';
import { settingsRoutes } from './settings/settings-routes.js';
import { type Editor, vscodeRoutes } from './vscode-routes.js';
import { workspaceFiles } from './workspace-files.js';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Answers without a session key, or checks it in its own way. */
    keyless?: boolean;
  }
}

export interface FacadeOptions {
  /** Any of them opens the `/api` routes and the sockets. */
  readonly sessionApiKeys: readonly string[];
  /** Without it there is no editor. */
  readonly vscode?: Editor | undefined;
  /** What the server says, by key. Default: its own words. */
  readonly messages?: Catalogue | undefined;
  readonly log?: Log | undefined;
}

const shortestKey = 16;

/** Adds the routes to a server; pass it as `extend`. */
export function openHandsV1(options: FacadeOptions): (app: FastifyInstance, server: ServerParts) => void {
  if (options.sessionApiKeys.length === 0 || options.sessionApiKeys.some((key) => key.length < shortestKey)) {
    throw new WorkcellError(
      'invalid-config',
      `A session key is missing or shorter than ${shortestKey} characters; give at least one, each that long.`,
    );
  }
  return (app, { executor, workspace }) => {
    const activity = new Activity();
    const events = new BashEvents();
    const say = speaker(options.messages ?? defaultV1Messages);
    const context: FacadeContext = {
      executor,
      workspace,
      keys: createSessionKeys(options.sessionApiKeys),
      events,
      commands: new BashCommands({ executor, events, activity, say }),
      activity,
      say,
    };
    app.addHook('onClose', async () => events.close());
    addChecks(app, context, options.log);
    answerBrowsers(app);
    serverRoutes(app, context);
    bashRoutes(app, context);
    bashSocket(app, context);
    fileRoutes(app, context);
    gitRoutes(app, context);
    settingsRoutes(app, context);
    savedWorkspaces(app);
    vscodeRoutes(app, context, options.vscode);
    workspaceFiles(app, context);
    missingRoutes(app, context);
  };
}

function addChecks(app: FastifyInstance, { keys, activity, say }: FacadeContext, log: Log | undefined): void {
  app.addHook('onRequest', async (request) => {
    const { url, config } = request.routeOptions;
    if (config.keyless !== true && !keys.acceptsHeaders(request.headers))
      throw new Refusal(401, words('http.unauthorized'));
    if (/\/api\/(bash|file|git)\//.test(url ?? '')) activity.touch();
    // Clients name a type even when they send nothing, and an empty body is not JSON.
    if (isEmpty(request.headers)) delete request.headers['content-type'];
  });
  app.setErrorHandler((error, _request, reply) => sendFailure(reply, error, say, log));
}

function isEmpty(headers: IncomingHttpHeaders): boolean {
  return headers['transfer-encoding'] === undefined && (headers['content-length'] ?? '0') === '0';
}
