/** Values that several routes take from a query. */

import { posix } from 'node:path';
import { z } from 'zod';
import { Refusal } from './detail-errors.js';
import { words } from './openhands-v1-messages.js';

/** The spellings of yes and no that the original accepts. */
export const flagSchema = z
  .string()
  .toLowerCase()
  .pipe(z.enum(['1', 'true', 'on', 'yes', 't', 'y', '0', 'false', 'off', 'no', 'f', 'n']))
  .transform((word) => ['1', 'true', 'on', 'yes', 't', 'y'].includes(word));

export const numberSchema = z
  .string()
  .regex(/^-?\d{1,15}$/, 'Input should be a valid integer')
  .transform(Number);

export const pathSchema = z
  .string()
  .min(1)
  .max(4096)
  .refine((path) => !path.includes('\0'), 'must not contain a NUL character');

/** The path without `.`, `..` and doubled slashes; refuses a relative one. */
export function absolute(path: string): string {
  if (!path.startsWith('/'))
    throw new Refusal(400, words('http.relative_path', { path: JSON.stringify(path) }));
  const tidy = posix.normalize(path);
  return tidy.length > 1 && tidy.endsWith('/') ? tidy.slice(0, -1) : tidy;
}
