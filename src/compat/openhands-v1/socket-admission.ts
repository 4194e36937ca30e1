/** Admits a socket that shows a session key: in the query, in a header, or in its first frame. */

import type { FastifyRequest } from 'fastify';
import type { RawData, WebSocket } from 'ws';
import { parseJson } from '../../base/json.js';
import type { FacadeContext } from './facade-context.js';
import { words } from './openhands-v1-messages.js';
import { keyHeader } from './session-key-check.js';

const unauthorizedCode = 4001;
const firstFrameMs = 10_000;

export interface Admitted {
  /** Called once, at the moment we see the key. */
  onAdmit(): void;
  /** Called with each frame after the key. */
  onFrame(frame: string): void;
}

export function admit(
  socket: WebSocket,
  request: FastifyRequest,
  { keys, say }: Pick<FacadeContext, 'keys' | 'say'>,
  { onAdmit, onFrame }: Admitted,
): void {
  const { session_api_key: given } = request.query as { session_api_key?: unknown };
  const hasOffered = given !== undefined || request.headers[keyHeader] !== undefined;
  let isAdmitted = false;
  const settle = (verdict: boolean) => {
    clearTimeout(timer);
    isAdmitted = verdict;
    if (verdict) onAdmit();
    else socket.close(unauthorizedCode, say(words('http.unauthorized')));
  };
  const timer = setTimeout(() => settle(false), firstFrameMs);
  socket.once('close', () => clearTimeout(timer));
  socket.on('message', (data) => {
    // Frames that arrive while a refused socket closes must not admit it after all.
    if (socket.readyState !== socket.OPEN) return;
    const frame = textOf(data);
    const key = keyIn(frame);
    if (!isAdmitted) settle(key !== undefined && keys.accepts(key));
    // A key that comes once more is not a command.
    else if (key === undefined) onFrame(frame);
  });
  if (hasOffered) settle(keys.accepts(given) || keys.acceptsHeaders(request.headers));
}

function textOf(data: RawData): string {
  return Array.isArray(data)
    ? Buffer.concat(data).toString('utf8')
    : Buffer.from(data as Buffer).toString('utf8');
}

function keyIn(frame: string): unknown {
  if (!frame.includes('"auth"')) return undefined;
  try {
    const value = parseJson(frame) as { type?: unknown; session_api_key?: unknown } | null;
    return value?.type === 'auth' ? (value.session_api_key ?? '') : undefined;
  } catch {
    return undefined;
  }
}
