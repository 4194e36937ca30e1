/** Failures in the form that OpenHands' clients show: `{"detail": …}`. */
import type { FastifyReply } from 'fastify';
import { sayWhen } from '../../base/http/http-errors.js';
import type { Log } from '../../base/http/http-options.js';
import { errorTable, WorkcellError } from '../../protocol/index.js';

export function sendDetail(reply: FastifyReply, thrown: unknown, log: Log): void {
  const { status, detail } = failureOf(thrown);
  if (status === 500) log('error', 'A request of a remote runtime failed.', { reason: String(thrown) });
  sayWhen(reply, thrown);
  void reply.code(status).type('application/json').send(JSON.stringify({ detail }));
}

function failureOf(thrown: unknown): { status: number; detail: string } {
  if (WorkcellError.isInstance(thrown)) {
    // To these clients 503 means paused, and they cannot resume a lost runtime.
    const status = thrown.code === 'runtime-disconnected' ? 502 : errorTable[thrown.code].status;
    return { status, detail: thrown.message };
  }
  const { statusCode = 500, message = '' } = (thrown ?? {}) as { statusCode?: number; message?: string };
  if (statusCode >= 400 && statusCode < 500) return { status: statusCode, detail: message };
  return { status: 500, detail: 'The service failed; its log says why.' };
}
