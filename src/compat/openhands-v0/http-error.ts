/** The forms in which failures leave the server: `{"detail": …}`, with `errors` for an unreadable request. */
import type { FastifyReply } from 'fastify';
import { errorTable, WorkcellError } from '../../protocol/index.js';
import { failureText } from '../failure-messages.js';
import type { Say, Text } from '../messages.js';
import { words } from './openhands-words.js';

export class HttpError extends Error {
  readonly status: number;
  readonly text: Text;
  /** The problems of an unreadable request. */
  readonly problems: Text | undefined;

  constructor(status: number, text: Text, problems?: Text) {
    super(`The answer is ${status}.`);
    this.name = 'HttpError';
    this.status = status;
    this.text = text;
    this.problems = problems;
  }
}

/** A request without the parameters that its endpoint needs. */
export function unreadable(problems: Text): HttpError {
  return new HttpError(422, words('http.invalid_request'), problems);
}

export function sendFailure(reply: FastifyReply, thrown: unknown, say: Say): void {
  const { status, text, problems } = toHttpError(thrown);
  void reply
    .code(status)
    .type('application/json')
    .send(JSON.stringify({ detail: say(text), ...(problems !== undefined && { errors: say(problems) }) }));
}

function toHttpError(thrown: unknown): HttpError {
  if (thrown instanceof HttpError) return thrown;
  if (WorkcellError.isInstance(thrown)) {
    if (thrown.code === 'unauthorized') return new HttpError(403, words('http.invalid_key'));
    // A body that is no JSON, in the words of the layer below.
    if (thrown.code === 'invalid-action' && 'problem' in thrown.details)
      return unreadable(failureText(thrown));
    return new HttpError(errorTable[thrown.code].status, failureText(thrown));
  }
  const { statusCode = 500, message = '' } = (thrown ?? {}) as { statusCode?: number; message?: string };
  const refused = words('http.refused', { message });
  if (statusCode === 413 || statusCode === 429) return new HttpError(statusCode, refused);
  if (statusCode >= 400 && statusCode < 500) return unreadable(refused);
  return new HttpError(500, words('http.failed'));
}
