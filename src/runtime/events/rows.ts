/** Events as rows: common fields in columns, the rest as JSON, long texts apart under their digest. */
import { createHash } from 'node:crypto';
import { type EventSource, eventSchema, WorkcellError, type WorkcellEvent } from '../../protocol/index.js';
import { bodyOf } from './event-filter.js';

/** Store a text of this many characters once, however many events carry it. */
const longText = 4096;

export interface Row {
  readonly runtime: string;
  readonly id: number;
  readonly at: number;
  readonly kind: string;
  readonly source: string;
  readonly cause: number | null;
  readonly body: string;
  /** Where long texts belong in the body, as JSON; null when there are none. */
  readonly texts: string | null;
}

/** A long text as JSON, under the digest of that. */
export interface LongText {
  readonly digest: string;
  readonly json: string;
}

type Place = readonly [path: readonly string[], digest: string];

/** An event that JSON cannot hold becomes an error in its place, so that it does not keep others from the store. */
export function toRow(event: WorkcellEvent): { row: Row; long: readonly LongText[] } {
  try {
    return rowOf(event);
  } catch (error) {
    const { runtimeId, id, at, source } = event;
    const message = `The ${event.kind} that belongs here could not be recorded: ${error instanceof Error ? error.message : String(error)}`;
    const cause = 'cause' in event ? event.cause : id;
    return rowOf({ runtimeId, id, at, source, kind: 'error', cause, error: { code: 'internal', message } });
  }
}

function rowOf(event: WorkcellEvent): { row: Row; long: readonly LongText[] } {
  const { runtimeId, id, at, kind, source } = event;
  const cause = 'cause' in event ? event.cause : null;
  const long: LongText[] = [];
  const places: Place[] = [];
  const body = bodyOf(event);
  let json = JSON.stringify(body);
  if (json.length >= longText) json = JSON.stringify(takeOut(body, [], long, places));
  const texts = places.length === 0 ? null : JSON.stringify(places);
  return { row: { runtime: runtimeId, id, at, kind, source, cause, body: json, texts }, long };
}

/** The event of a row; `textOf` returns long texts, as JSON, by digest. */
function fromRow(row: Row, textOf: (digest: string) => string | undefined): WorkcellEvent {
  const { runtime, id, at, kind, source, cause, body, texts } = row;
  const content: unknown = JSON.parse(body);
  for (const [path, digest] of texts === null ? [] : (JSON.parse(texts) as Place[]))
    putBack(content, path, JSON.parse(textOf(digest) ?? '"[no longer kept]"'));
  const event = {
    id: Number(id),
    at: Number(at),
    runtimeId: runtime,
    source: source as EventSource,
    ...(cause === null ? {} : { cause: Number(cause) }),
    kind,
    [kind]: content,
  };
  const checked = eventSchema.safeParse(event);
  if (checked.success) return event as unknown as WorkcellEvent;
  throw new WorkcellError('store-unavailable', `Event ${id} of runtime ${runtime} in the store is damaged.`, {
    details: { runtimeId: runtime, id },
    cause: checked.error,
  });
}

export function placesOf(row: Pick<Row, 'texts'>): readonly Place[] {
  return row.texts === null ? [] : (JSON.parse(row.texts) as Place[]);
}

/** A copy without long texts, which it collects with the paths to their places. */
function takeOut(value: unknown, path: readonly string[], long: LongText[], places: Place[]): unknown {
  if (typeof value === 'string' && value.length >= longText && path.length > 0) {
    const json = JSON.stringify(value);
    const digest = createHash('sha256').update(json).digest('hex');
    if (!long.some((text) => text.digest === digest)) long.push({ digest, json });
    places.push([path, digest]);
    return '';
  }
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value))
    return value.map((inner, index) => takeOut(inner, [...path, String(index)], long, places));
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [key, takeOut(inner, [...path, key], long, places)]),
  );
}

function putBack(content: unknown, path: readonly string[], text: unknown): void {
  let holder = content as Record<string, unknown>;
  for (const key of path.slice(0, -1)) holder = holder[key] as Record<string, unknown>;
  const name = path.at(-1);
  // Define it rather than assign it: a key may have the name of a member of every object.
  if (name !== undefined)
    Object.defineProperty(holder, name, {
      value: text,
      enumerable: true,
      writable: true,
      configurable: true,
    });
}

/** The events of rows until `maxSize` is reached, and at least one. `textOf` gives a long text as JSON. */
export function eventsOf(
  rows: Iterable<Row>,
  { maxSize = Number.POSITIVE_INFINITY }: { readonly maxSize?: number | undefined },
  textOf: (digest: string) => string | undefined,
): WorkcellEvent[] {
  const events: WorkcellEvent[] = [];
  let size = 0;
  for (const row of rows) {
    events.push(
      fromRow(row, (digest) => {
        const json = textOf(digest);
        size += json?.length ?? 0;
        return json;
      }),
    );
    size += row.body.length;
    if (size >= maxSize) break;
  }
  return events;
}

/** The longest escape, `\\u0000`, less its last character. */
const longestPart = 5;

/** Makes JSON of the beginning of a text in JSON. A store cuts anywhere, also within an escape. */
export function closedText(json: string, longest: number | undefined): string {
  if (longest === undefined || json.length < longest || isJson(json)) return json;
  for (let less = 0; less <= longestPart; less++) {
    const closed = `${json.slice(0, json.length - less)}"`;
    if (isJson(closed)) return closed;
  }
  return '""';
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
