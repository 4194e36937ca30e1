/** The forms in which failures leave the server: `{"detail": …}`, with `errors` for a request that cannot be read. */
import type { FastifyReply } from 'fastify';
import { errorTable, WorkcellError } from '../../protocol/index.js';
import { invalidKey, invalidRequest } from './openhands-messages.js';

export class HttpError extends Error {
  readonly status: number;
  /** What is wrong with the request, where it could not be read at all. */
  readonly problems: string | undefined;

  constructor(status: number, message: string, problems?: string) {
    super(message);
    this.name = 'HttpError';
    this.status = status;
    this.problems = problems;
  }
}

/** A request without the parameters that its endpoint needs. */
export function unreadable(problems: string): HttpError {
  return new HttpError(422, invalidRequest, problems);
}

export function sendFailure(reply: FastifyReply, thrown: unknown): void {
  const { status, message, problems } = toHttpError(thrown);
  void reply
    .code(status)
    .type('application/json')
    .send(JSON.stringify({ detail: message, ...(problems !== undefined && { errors: problems }) }));
}

function toHttpError(thrown: unknown): HttpError {
  if (thrown instanceof HttpError) return thrown;
  if (WorkcellError.isInstance(thrown)) {
    if (thrown.code === 'unauthorized') return new HttpError(403, invalidKey);
    // A body that is no JSON, as the layer below says it.
    if (thrown.code === 'invalid-action' && 'problem' in thrown.details) return unreadable(thrown.message);
    return new HttpError(errorTable[thrown.code].status, thrown.message);
  }
  const { statusCode = 500, message = '' } = (thrown ?? {}) as { statusCode?: number; message?: string };
  if (statusCode === 413 || statusCode === 429) return new HttpError(statusCode, message);
  if (statusCode >= 400 && statusCode < 500) return unreadable(message);
  return new HttpError(500, 'The server failed unexpectedly. Please try again.');
}
