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
  const code = (status === undefined ? undefined : codes[status]) ?? 'backend-unavailable';
  return new WorkcellError(code, `${vendor} refused or failed: ${message.slice(0, 1000)}`, {
    details: { vendor, ...(status !== undefined && { status }) },
    cause: error,
  });
}

/** The key from the options, from a file, or from the vendor's own variable. */
export function missingKey(vendor: string, variable: string): WorkcellError {
  return new WorkcellError(
    'unauthorized',
    `${vendor} wants a key: give apiKey or apiKeyFile, or set ${variable}.`,
  );
}
