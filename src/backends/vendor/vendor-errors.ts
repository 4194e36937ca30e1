/** Failures of a vendor in our words. */
import { type ErrorCode, WorkcellError } from '../../protocol/index.js';

const codes: Readonly<Record<number, ErrorCode>> = {
  400: 'invalid-config',
  401: 'unauthorized',
  403: 'denied',
  404: 'not-found',
  408: 'timed-out',
  422: 'invalid-config',
  429: 'rate-limited',
  504: 'timed-out',
};

/** `vendor`: as the subject of a sentence. Keys never stand in what vendors say of a failure. */
export function vendorError(vendor: string, error: unknown, status: number | undefined): WorkcellError {
  if (WorkcellError.isInstance(error)) return error;
  const message = error instanceof Error ? error.message : String(error);
  const known = status === undefined && isTimeout(error) ? 'timed-out' : codes[status ?? 0];
  const code = known ?? 'backend-unavailable';
  return new WorkcellError(code, `${vendor} refused or failed: ${message.slice(0, 1000)}`, {
    details: { vendor, ...(status !== undefined && { status }) },
    cause: error,
  });
}

/**
 * Whether a client gave up by itself, of which it has no status. Each has a class of its own for that, some without a name in
 * the error, and some pass on what the platform says.
 */
function isTimeout(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return /Timeout/.test(`${error.name} ${error.constructor.name}`) || isTimeout(error.cause);
}

/** The key from the options, from a file, or from the vendor's own variable. */
export function missingKey(vendor: string, variable: string): WorkcellError {
  return new WorkcellError(
    'unauthorized',
    `${vendor} wants a key: give apiKey or apiKeyFile, or set ${variable}.`,
  );
}

export function noCell(vendor: string, sandbox: string, id: string): WorkcellError {
  return new WorkcellError(
    'cell-not-found',
    `${vendor} has no ${sandbox} with the cell "${id}" that was kept alive.`,
    {
      details: { id },
    },
  );
}
