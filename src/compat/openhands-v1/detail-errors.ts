/** How failures look to a client of this protocol: `{"detail": …}`. */
import type { FastifyReply } from 'fastify';
import type { z } from 'zod';
import { toWorkcellError } from '../../base/http/http-errors.js';
import type { Log } from '../../cell/server/executor-server-options.js';
import { type ErrorCode, errorTable, WorkcellError } from '../../protocol/index.js';

/** A refusal in the words of this protocol. */
export class Refusal extends Error {
  readonly status: number;
  /** Text, or the list of problems that a 422 carries. */
  readonly detail: unknown;

  constructor(status: number, detail: unknown) {
    super(typeof detail === 'string' ? detail : 'The request does not fit.');
    this.name = 'Refusal';
    this.status = status;
    this.detail = detail;
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
  throw new Refusal(
    422,
    result.error.issues.map(({ code, path, message }) => ({
      type: code,
      loc: [part, ...path],
      msg: message,
    })),
  );
}

export function sendFailure(reply: FastifyReply, thrown: unknown, log?: Log): void {
  const { status, detail } = thrown instanceof Refusal ? thrown : refusalOf(toWorkcellError(thrown, log));
  // Clients look for the reason of a server's own failure in a second field.
  const body = status >= 500 ? { detail: 'Internal Server Error', exception: detail } : { detail };
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
  if (error.code === 'unauthorized') return new Refusal(401, 'Unauthorized');
  return new Refusal(statuses[error.code] ?? errorTable[error.code].status, error.message);
}

/** For work of git: its failures are mistakes in the request, except for those that no other request would avoid. */
export async function refusing<Result>(work: Promise<Result>): Promise<Result> {
  try {
    return await work;
  } catch (error) {
    if (!WorkcellError.isInstance(error) || own.includes(error.code)) throw error;
    throw new Refusal(400, error.message);
  }
}

const own: readonly ErrorCode[] = ['internal', 'runtime-closed', 'runtime-disconnected'];

/** The sentence for a person in any kind of failure. */
export function messageOf(thrown: unknown): string {
  return WorkcellError.isInstance(thrown) || thrown instanceof Refusal
    ? thrown.message
    : 'The server failed unexpectedly.';
}
