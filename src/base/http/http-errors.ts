/** The one form in which failures leave the server: `{ error: { code, message, details }, requestId }`. */
import type { Writable } from 'node:stream';
import type { FastifyError, FastifyReply } from 'fastify';
import { type ErrorCode, errorTable, WorkcellError } from '../../protocol/index.js';
import type { Log } from './http-options.js';

/** Gives every failure a code. A foreign error reveals nothing about the inside of the server. */
export function toWorkcellError(thrown: unknown, log: Log = () => {}): WorkcellError {
  if (WorkcellError.isInstance(thrown)) return thrown;
  const { statusCode = 500, message } = (thrown ?? {}) as Partial<FastifyError>;
  if (statusCode >= 400 && statusCode < 500) {
    return new WorkcellError(
      codeOf(statusCode),
      `The request is not valid: ${message ?? 'no reason given'}.`,
    );
  }
  log('error', 'A request failed unexpectedly.', {
    error: thrown instanceof Error ? thrown.stack : String(thrown),
  });
  return new WorkcellError('internal', 'The server failed unexpectedly; its log tells more.');
}

/** The codes of failed answers, for those who count them. */
const failures = new WeakMap<FastifyReply, ErrorCode>();

export function failureOf(reply: FastifyReply): ErrorCode | undefined {
  return failures.get(reply);
}

export function sendError(reply: FastifyReply, thrown: unknown, log: Log): void {
  const { id: requestId } = reply.request;
  const error = toWorkcellError(thrown, (level, message, fields) =>
    log(level, message, { requestId, ...fields }),
  );
  failures.set(reply, error.code);
  sayWhen(reply, error);
  void reply
    .code(errorTable[error.code].status)
    .type('application/json; charset=utf-8')
    .send(errorBody(error, requestId));
}

/** Says when to ask again, for clients that read headers alone. */
export function sayWhen(reply: FastifyReply, thrown: unknown): void {
  const seconds = retryAfterOf(thrown);
  if (seconds !== undefined) void reply.header('retry-after', String(seconds));
}

/** In seconds; undefined when trying again is not a question of time. */
export function retryAfterOf(thrown: unknown): number | undefined {
  if (!WorkcellError.isInstance(thrown)) return undefined;
  const { retryAfterMs } = thrown.details;
  const { status } = errorTable[thrown.code];
  if (typeof retryAfterMs !== 'number' || (status !== 429 && status !== 503)) return undefined;
  return Math.max(1, Math.ceil(retryAfterMs / 1000));
}

/** Answers on a connection that no longer carries readable requests, and ends it. */
export function refuse(socket: Writable, status: string, error: WorkcellError): void {
  const body = errorBody(error);
  socket.end(
    `HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
}

export function errorBody(error: WorkcellError, requestId?: string): string {
  return JSON.stringify({ error: error.toJSON(), requestId });
}

function codeOf(status: number): ErrorCode {
  if (status === 401) return 'unauthorized';
  if (status === 404) return 'not-found';
  if (status === 413 || status === 431) return 'request-too-large';
  if (status === 429) return 'rate-limited';
  return 'invalid-action';
}
