import { WorkcellError } from './errors.js';
import { didYouMean, nearest } from './nearest.js';

/** Refuses what is no object, and keys that nothing reads: an option that somebody misspelled does not do what they asked for. */
export function checkKnown(what: string, value: object, accepted: readonly string[]): void {
  const given: unknown = value;
  if (typeof given !== 'object' || given === null || Array.isArray(given))
    throw new WorkcellError(
      'invalid-config',
      `${what} must be an object with some of: ${accepted.join(', ')}.`,
    );
  const unknown = Object.entries(given).find(([key, set]) => set !== undefined && !accepted.includes(key));
  if (unknown === undefined) return;
  const [key] = unknown;
  throw new WorkcellError(
    'invalid-config',
    `${what} has ${JSON.stringify(key)}, which is not known.${didYouMean(nearest(key, accepted))} Accepted: ${accepted.join(', ')}.`,
    { details: { key } },
  );
}
