/** How failures look to a client of this protocol: `{"detail": …}`. */
import type { FastifyReply } from 'fastify';
import type { z } from 'zod';
import { toWorkcellError } from '../../base/http/http-errors.js';
import type { Log } from '../../cell/server/executor-server-options.js';
import { type ErrorCode, errorTable, WorkcellError } from '../../protocol/index.js';
import { failureText } from '../failure-messages.js';
import type { Say, Text } from '../messages.js';
import { words } from './openhands-v1-messages.js';

/** A refusal in the words of this protocol. */
export class Refusal extends Error {
  readonly status: number;
  readonly detail: Text | Problems;

  constructor(status: number, detail: Text | Problems) {
    super(`The answer is ${status}.`);
    this.name = 'Refusal';
    this.status = status;
    this.detail = detail;
  }
}

/** What a 422 carries for a request that does not fit. */
export class Problems {
  readonly list: readonly { type: string; loc: readonly PropertyKey[]; msg: string }[];

  constructor(list: Problems['list']) {
    this.list = list;
  }
}

/** Checks a part of a request; what does not fit becomes a 422 that names each place, but never a value. */
export function parse<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
  part: 'body' | 'query' | 'path',
): z.output<Schema> {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const problems = result.error.issues.map(({ code, path, message }) => ({
    type: code,
    loc: [part, ...path],
    msg: message,
  }));
  throw new Refusal(422, new Problems(problems));
}

export function sendFailure(reply: FastifyReply, thrown: unknown, say: Say, log?: Log): void {
  const { status, detail: text } =
    thrown instanceof Refusal ? thrown : refusalOf(toWorkcellError(thrown, log));
  // Clients look for the reason of a server's own failure in a second field.
  const detail = text instanceof Problems ? text.list : say(text);
  const body = status >= 500 ? { detail: say(words('http.failed')), exception: detail } : { detail };
  void reply.code(status).type('application/json').send(JSON.stringify(body));
}

/** Codes whose status here differs from the native API. */
const statuses: Partial<Record<ErrorCode, number>> = {
  'not-a-file': 400,
  'not-a-directory': 400,
  'already-exists': 400,
  'directory-not-empty': 400,
  'spawn-failed': 400,
  'runtime-closed': 503,
  cancelled: 400,
  'timed-out': 408,
};

function refusalOf(error: WorkcellError): Refusal {
  if (error.code === 'unauthorized') return new Refusal(401, words('http.unauthorized'));
  return new Refusal(statuses[error.code] ?? errorTable[error.code].status, failureText(error));
}

/** For work of git: its failures are mistakes in the request, except for those that no other request would avoid. */
export async function refusing<Result>(work: Promise<Result>): Promise<Result> {
  try {
    return await work;
  } catch (error) {
    if (!WorkcellError.isInstance(error) || own.includes(error.code)) throw error;
    throw new Refusal(400, failureText(error));
  }
}

const own: readonly ErrorCode[] = ['internal', 'runtime-closed', 'runtime-disconnected'];

/** The sentence for a person in any kind of failure. */
export function textOf(thrown: unknown): Text {
  if (WorkcellError.isInstance(thrown)) return failureText(thrown);
  return thrown instanceof Refusal && !(thrown.detail instanceof Problems)
    ? thrown.detail
    : words('http.unexpected');
}
