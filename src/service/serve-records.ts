/** The console for the records of this machine, without a service: it starts, changes and ends no cell. */
import { userInfo } from 'node:os';
import { createAccess } from '../base/http/access.js';
import { createHttpApp, mount, protect } from '../base/http/http-app.js';
import { sendError } from '../base/http/http-errors.js';
import type { Exposure, ListenAddress, Log } from '../base/http/http-options.js';
import { checkExposure, listen, withBoundHost } from '../base/http/listen.js';
import { WorkcellError } from '../protocol/index.js';
import { consoleRoutes } from './console-files.js';
import { type RecordGate, recordRoutes } from './record-routes.js';
import { Records } from './records.js';

export interface RecordServerOptions extends Omit<Exposure, 'token' | 'allowAnonymous'> {
  readonly token: string;
  /** As `events.store` has it. */
  readonly store: string | undefined;
  /** Another build of the console than that of this package. */
  readonly console?: string | undefined;
  readonly log?: Log | undefined;
}

export async function serveRecords(
  options: RecordServerOptions,
): Promise<{ readonly address: ListenAddress; close(): Promise<void> }> {
  const { token, store, log = () => {} } = options;
  checkExposure(options);
  const access = createAccess({ ...withBoundHost(options), token, ownPages: true });
  const records = new Records(store);
  const app = createHttpApp({ access, log });
  mount(app, [
    {
      prefix: '',
      routes(scope) {
        protect(scope, ({ headers }) => access.checkToken(headers));
        scope.setNotFoundHandler((request, reply) => {
          const message = `There is no ${request.method} ${request.url.split('?')[0]} here.`;
          sendError(reply, new WorkcellError('not-found', message), log);
        });
        recordRoutes(scope, records, ownGate);
        consoleRoutes(scope, options.console);
      },
    },
  ]);
  const listener = await listen(app, options.listen);
  return {
    address: listener.address,
    async close() {
      await listener.close();
      await records.close();
    },
  };
}

/** Whoever has the token is the user whose records these are. */
const ownGate: RecordGate = {
  sees: () => () => true,
  page: () => undefined,
  info: () => ({ cells: false, role: 'operator', tenant: 'default' }),
  cells: () => [],
  live: () => undefined,
  decides: () => userInfo().username,
};
