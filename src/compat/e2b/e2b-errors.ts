/** How failures look to clients of E2B: `{"code": <status>, "message"}`, and by name in its calls of procedures. */
import type { FastifyReply } from 'fastify';
import { retryAfterOf, toWorkcellError } from '../../base/http/http-errors.js';
import type { Log } from '../../base/http/http-options.js';
import { type ErrorCode, errorTable, WorkcellError } from '../../protocol/index.js';

/** A refusal in the words of this protocol; clients read the status from the body. */
export class E2bError extends Error {
  readonly status: number;
  readonly fields: Readonly<Record<string, unknown>>;

  constructor(status: number, message: string, fields: Readonly<Record<string, unknown>> = {}) {
    super(message);
    this.name = 'E2bError';
    this.status = status;
    this.fields = fields;
  }
}

export function sendE2bError(reply: FastifyReply, thrown: unknown, log?: Log): void {
  const { status, message, fields } = thrown instanceof E2bError ? thrown : translated(thrown, log);
  if (fields.retryAfter !== undefined) void reply.header('retry-after', String(fields.retryAfter));
  void reply
    .code(status)
    .type('application/json')
    .send(JSON.stringify({ code: status, message, ...fields }));
}

/** Codes whose status here differs from that of the native API. */
const statuses: Partial<Record<ErrorCode, number>> = {
  'not-a-file': 400,
  'not-a-directory': 400,
  'path-outside': 400,
  'runtime-closed': 502,
  'runtime-disconnected': 502,
  'capability-unsupported': 400,
  cancelled: 400,
};

function translated(thrown: unknown, log: Log | undefined): E2bError {
  const error = toWorkcellError(thrown, log);
  const seconds = retryAfterOf(error);
  const status = statuses[error.code] ?? errorTable[error.code].status;
  return new E2bError(status, error.message, seconds === undefined ? {} : { retryAfter: seconds });
}

export const rpcStatuses = {
  invalid_argument: 400,
  failed_precondition: 400,
  unauthenticated: 401,
  permission_denied: 403,
  not_found: 404,
  already_exists: 409,
  resource_exhausted: 429,
  canceled: 499,
  internal: 500,
  unimplemented: 501,
  unavailable: 503,
  deadline_exceeded: 504,
} as const;

type RpcCode = keyof typeof rpcStatuses;

export class RpcError extends Error {
  readonly code: RpcCode;

  constructor(code: RpcCode, message: string) {
    super(message);
    this.name = 'RpcError';
    this.code = code;
  }
}

const rpcCodes: Partial<Record<ErrorCode, RpcCode>> = {
  'invalid-action': 'invalid_argument',
  'request-too-large': 'invalid_argument',
  'not-found': 'not_found',
  'process-not-found': 'not_found',
  'not-a-file': 'invalid_argument',
  'not-a-directory': 'invalid_argument',
  'path-outside': 'permission_denied',
  'permission-denied': 'permission_denied',
  'already-exists': 'already_exists',
  'spawn-failed': 'invalid_argument',
  'disk-full': 'resource_exhausted',
  'rate-limited': 'resource_exhausted',
  denied: 'permission_denied',
  'confirmation-timeout': 'permission_denied',
  unauthorized: 'unauthenticated',
  'capability-unsupported': 'unimplemented',
  'runtime-closed': 'unavailable',
  'runtime-disconnected': 'unavailable',
  cancelled: 'canceled',
  'timed-out': 'deadline_exceeded',
};

export function toRpcError(thrown: unknown, log?: Log): RpcError {
  if (thrown instanceof RpcError) return thrown;
  if (thrown instanceof E2bError)
    return new RpcError(thrown.status === 401 ? 'unauthenticated' : 'unavailable', thrown.message);
  const error = toWorkcellError(thrown, log);
  return new RpcError(rpcCodes[error.code] ?? 'internal', error.message);
}

/** Whether the cell itself has ended, so that we must cut a client off instead of answering. */
export function isGone(error: unknown): boolean {
  return (
    WorkcellError.isInstance(error) &&
    ['runtime-closed', 'runtime-disconnected', 'cell-not-found'].includes(error.code)
  );
}
