/** Serves a cell to clients of OpenHands V0. */
import type { Mount } from '../../base/http/http-app.js';
import { type Exposure, lenientToken } from '../../base/http/http-options.js';
import { checkExposure, type HttpListener, listen, withBoundHost } from '../../base/http/listen.js';
import type { Executor } from '../../protocol/index.js';
import { createOpenHandsApp, type OpenHandsOptions } from './openhands-v0-app.js';

export interface ServeOpenHandsOptions extends OpenHandsOptions, Exposure {}

/**
 * Listens only when everything works, because clients take an open port for a ready server. Closing leaves the
 * executor running.
 */
export async function serveOpenHands(
  executor: Executor,
  options: ServeOpenHandsOptions,
  also: readonly Mount[] = [],
): Promise<HttpListener> {
  checkExposure(options, [{ token: lenientToken }, ...also]);
  return listen(createOpenHandsApp(executor, withBoundHost(options), also), options.listen);
}
