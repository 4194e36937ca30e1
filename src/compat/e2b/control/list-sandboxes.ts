/** Which sandboxes a list shows, and where the next page begins. */
import type * as z from 'zod';
import { E2bError } from '../e2b-errors.js';
import type { Sandbox } from '../e2b-sandbox.js';
import type { listSchema } from './sandbox-schemas.js';

/** Newest first by default. The token names the last listed one, so that others may come and go. */
export function listSandboxes(
  all: readonly Sandbox[],
  { metadata, state, startedAfter, template, order, limit, nextToken }: z.output<typeof listSchema>,
): { page: Sandbox[]; next?: string } {
  const wanted = metadata === undefined ? [] : metadataIn(metadata);
  const direction = order === 'asc' ? 1 : -1;
  const after = nextToken === undefined ? undefined : readToken(nextToken);
  const fitting = all
    .filter(({ record }) => record.state === 'running' || record.state === 'paused')
    .filter(({ record }) => state === undefined || state.some((one) => one === record.state))
    .filter(({ record }) => startedAfter === undefined || record.createdAt > Date.parse(startedAfter))
    .filter(({ facts }) => template === undefined || facts.template === template)
    .filter(({ facts }) =>
      wanted.every(([key, value]) => Object.hasOwn(facts.metadata, key) && facts.metadata[key] === value),
    )
    .toSorted((left, right) => direction * compare(placeOf(left), placeOf(right)))
    .filter((sandbox) => after === undefined || direction * compare(placeOf(sandbox), after) > 0);
  const page = fitting.slice(0, limit);
  const last = page.at(-1);
  return fitting.length > limit && last !== undefined ? { page, next: writeToken(placeOf(last)) } : { page };
}

/** A form whose words the client has encoded once more. */
function metadataIn(text: string): [string, string][] {
  try {
    return [...new URLSearchParams(text)].map(([key, value]) => [
      decodeURIComponent(key),
      decodeURIComponent(value),
    ]);
  } catch {
    throw new E2bError(400, 'The metadata of the query is not encoded well.');
  }
}

type Place = readonly [at: number, id: string];

function placeOf({ record }: Sandbox): Place {
  return [record.createdAt, record.id];
}

function compare(left: Place, right: Place): number {
  return left[0] - right[0] || (left[1] < right[1] ? -1 : left[1] > right[1] ? 1 : 0);
}

function writeToken([at, id]: Place): string {
  return Buffer.from(`${at}:${id}`).toString('base64url');
}

function readToken(token: string): Place {
  const [, at, id] =
    /^(\d{1,16}):([0-9a-z]{1,64})$/.exec(Buffer.from(token, 'base64url').toString('utf8')) ?? [];
  if (at === undefined || id === undefined)
    throw new E2bError(400, 'The nextToken is not one of this server.');
  return [Number(at), id];
}
