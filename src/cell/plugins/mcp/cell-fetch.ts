/** `fetch` whose connections start inside the cell, so that they reach the same as the cell's own network. */
import type { Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import type { FetchLike } from '@modelcontextprotocol/sdk/shared/transport.js';
import { Agent, fetch } from 'undici';
import type { PluginCell } from '../plugin.js';
import { boundAnswer } from './bound-answer.js';

export interface CellFetch {
  readonly fetch: FetchLike;
  close(): Promise<void>;
}

export function createCellFetch(cell: PluginCell): CellFetch {
  const agent = new Agent({
    connect: (options, callback) => {
      const { hostname, protocol } = options;
      const secure = protocol === 'https:';
      const host = hostname.replace(/^\[|\]$/g, '');
      const port = Number(options.port || (secure ? 443 : 80));
      cell.dial(host, port).then(
        (stream) => {
          if (!secure) return callback(null, stream as Socket);
          const socket = connectTls({ socket: stream, servername: host, ALPNProtocols: ['http/1.1'] });
          // A stream that breaks shows in the socket above it.
          stream.on('error', () => socket.destroy());
          socket.once('secureConnect', () => callback(null, socket));
          socket.on('error', (error) => callback(error, null));
        },
        (error: Error) => callback(error, null),
      );
    },
  });
  return {
    // A redirect would lead elsewhere with the same headers, so return it like any other answer.
    fetch: async (url, init) => {
      const options = { ...(init as object), redirect: 'manual' as const, dispatcher: agent };
      return boundAnswer((await fetch(url, options)) as unknown as Response);
    },
    close: () => agent.destroy(),
  };
}
