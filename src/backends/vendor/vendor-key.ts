import { readToken } from '../../base/http/token.js';
import { missingKey } from './vendor-errors.js';

interface GivenKey {
  readonly apiKey?: string | undefined;
  readonly apiKeyFile?: string | undefined;
}

/** The key from the options, from a file, or from the vendor's own variable. */
export function vendorKey(vendor: string, variable: string, { apiKey, apiKeyFile }: GivenKey): string {
  const key = apiKey ?? readToken({ file: apiKeyFile }) ?? process.env[variable];
  if (key === undefined || key === '') throw missingKey(vendor, variable);
  return key;
}
