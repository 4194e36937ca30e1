/** Turns failures between client and server into errors that say what to do. */
import { parseJson } from '../../base/json.js';
import { type ErrorBody, errorSchema, WorkcellError } from '../../protocol/index.js';

const tlsCodes = /^(ERR_TLS_|ERR_SSL_|CERT_|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_|HOSTNAME_MISMATCH|EPROTO)/;

/** The innermost code of a failed connection, such as ECONNREFUSED. */
function networkCode(error: unknown): string {
  const { code, cause, errors } = (error ?? {}) as { code?: string; cause?: unknown; errors?: unknown[] };
  if (errors?.[0] !== undefined) return networkCode(errors[0]);
  if (cause !== undefined && networkCode(cause) !== '') return networkCode(cause);
  return code ?? '';
}

/** True when nothing listens there, so that trying again soon is of little use. */
export function isAbsent(error: unknown): boolean {
  return ['ECONNREFUSED', 'ENOENT', 'ENOTFOUND', 'ENOTSOCK'].includes(networkCode(error));
}

/** True when the connection itself is untrusted, so that a retry does not help. */
export function isTlsTrouble(error: unknown): boolean {
  return tlsCodes.test(networkCode(error));
}

/** True when the other side speaks something other than HTTP, so that trying again is of no use. */
export function isForeign(error: unknown): boolean {
  return error instanceof Error && error.name === 'HTTPParserError';
}

export function notAnExecutor(where: string, cause?: unknown): WorkcellError {
  return new WorkcellError(
    'version-mismatch',
    `What answers at ${where} is not a Workcell executor. Check the address and port; start a server with: workcell executor --listen tcp:127.0.0.1:8700 --token-file <file>`,
    { details: { server: where }, cause },
  );
}

export function silent(where: string, limitMs: number, cause: unknown): WorkcellError {
  return new WorkcellError(
    'runtime-disconnected',
    `The server at ${where} did not say what it is within ${limitMs / 1000} s. Check that it is a Workcell executor, and that it is not stopped or overloaded.`,
    { details: { server: where, limitMs }, cause },
  );
}

export function disconnected(where: string, error: unknown): WorkcellError {
  const code = networkCode(error);
  // What OpenSSL says ends in a line break.
  const reason = (error instanceof Error ? error.message : String(error)).trim();
  const details = { server: where, reason: code || reason };
  const message = (text: string) => `The server at ${where} ${text}`;
  const make = (text: string) =>
    new WorkcellError('runtime-disconnected', message(text), { details, cause: error });
  if (code === 'ECONNREFUSED')
    return make('refuses the connection: nothing listens there. Start it, or check the port.');
  if (code === 'ENOENT') return make('is gone: its socket does not exist any more.');
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN')
    return make('cannot be found: its name does not resolve.');
  if (isTlsTrouble(error)) {
    return make(
      `cannot be trusted (${code}): ${reason}. Use the name in its certificate, give its authority as ca, or check that it speaks TLS.`,
    );
  }
  return make(`can no longer be reached (${code || reason}).`);
}

/** With these, what stands before a server says that it does not find it. */
const absences = [404, 410, 502, 503, 504];

/** The error that an answer carries. Do not trust that it is one. `wasThere`: an executor has answered at this address before. */
export function errorFrom(status: number, body: string, wasThere: boolean): WorkcellError {
  const parsed = readError(body);
  if (parsed !== undefined) return toError(parsed);
  if (wasThere && absences.includes(status))
    return new WorkcellError(
      'runtime-disconnected',
      `The server is gone, or cannot be reached now: what answers in its place says ${status}.`,
      { details: { status, body: body.slice(0, 200) } },
    );
  return new WorkcellError(
    'internal',
    `The server answered with status ${status} and something that is not an error of ours; is it a Workcell executor?`,
    { details: { status, body: body.slice(0, 200) } },
  );
}

export function toError({ code, message, details }: ErrorBody): WorkcellError {
  return new WorkcellError(code, message, { details: details ?? {} });
}

function readError(body: string): ErrorBody | undefined {
  try {
    const { error } = parseJson(body) as { error?: unknown };
    return errorSchema.safeParse(error).data;
  } catch {
    return undefined;
  }
}
