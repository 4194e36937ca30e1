/** Every route that a service answers, by itself and with the protocols beside it. */
import { createServiceApp, type ServiceMount, type ServiceParts } from '../../src/service/service-app.js';

export interface ServedRoute {
  readonly method: string;
  readonly url: string;
  /** `too`: it answers plain requests as well. */
  readonly socket: 'no' | 'too' | 'only';
}

export async function servedRoutes(also: readonly ServiceMount[] = []): Promise<ServedRoute[]> {
  const app = createServiceApp({} as ServiceParts, {}, also);
  const found = new Map<string, ServedRoute>();
  app.addHook('onRoute', (route) => {
    const { method, url } = route;
    const { websocket, wsHandler } = route as { websocket?: boolean; wsHandler?: unknown };
    const socket = websocket ? 'only' : wsHandler === undefined ? 'no' : 'too';
    for (const one of [method].flat())
      if (one !== 'HEAD' && one !== 'OPTIONS') found.set(`${one} ${url}`, { method: one, url, socket });
  });
  await app.ready();
  await app.close();
  return [...found.values()];
}
