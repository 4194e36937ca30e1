/** WebSockets: which routes take them, answers to requests that use the wrong protocol, and silent peers. */
import type { FastifyInstance } from 'fastify';
import type { WebSocket } from 'ws';
import { WorkcellError } from '../../protocol/index.js';
import { answerPings } from '../pings.js';
import { refuse } from './http-errors.js';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Whether it is for WebSockets only, or answers both them and plain requests. */
    socket?: 'only' | 'also';
  }
}

const pingMs = 30_000;

/** Call it after registering the plugin for WebSockets and before the first route. */
export function checkUpgrades(app: FastifyInstance): void {
  app.addHook('onRoute', (route) => {
    if (route.websocket) route.config = { ...route.config, socket: 'only' };
    else if (route.wsHandler !== undefined) route.config = { ...route.config, socket: 'also' };
  });
  // Check before any other work for the request.
  app.addHook('onRequest', (request, reply, done) => {
    // A refusal is the last answer on a connection that should have become a socket.
    if (request.ws) void reply.header('connection', 'close');
    const { socket } = request.routeOptions.config;
    const path = request.url.split('?')[0];
    if (socket === 'only' && !request.ws)
      throw new WorkcellError('invalid-action', `${path} is a WebSocket; connect to it with one.`);
    if (socket === undefined && request.ws && !request.is404)
      throw new WorkcellError('invalid-action', `${path} is not a WebSocket; send it a plain request.`);
    done();
  });
  app.websocketServer.on('connection', answerPings);
  app.websocketServer.on('wsClientError', (cause, socket) => {
    const message = `The request does not begin a WebSocket: ${cause.message}.`;
    refuse(socket, '400 Bad Request', new WorkcellError('invalid-action', message));
  });
}

/** Cuts off a peer that no longer answers. */
export function watchPeer(socket: WebSocket): void {
  let answered = true;
  socket.on('pong', () => {
    answered = true;
  });
  const timer = setInterval(() => {
    // A paused socket may hold answers that nobody has read yet. If its peer has left, sending a ping shows it.
    if (answered || socket.isPaused) socket.ping();
    else socket.terminate();
    answered = false;
  }, pingMs);
  timer.unref();
  socket.once('close', () => clearInterval(timer));
}
