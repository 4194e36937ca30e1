/** Points in time as events carry them: ISO 8601 in UTC, to the microsecond. */

/** Returns a later microsecond at each call, so that timestamps have the order of events. */
export class Clock {
  #last = 0;

  next(): number {
    this.#last = Math.max(this.#last + 1, Date.now() * 1000);
    return this.#last;
  }
}

export function formatTimestamp(microseconds: number): string {
  const seconds = new Date(Math.floor(microseconds / 1000)).toISOString().slice(0, 19);
  return `${seconds}.${String(microseconds % 1_000_000).padStart(6, '0')}Z`;
}

/** Microseconds since the epoch; a text without a zone is UTC. Undefined when it is no point in time. */
export function parseTimestamp(text: string): number | undefined {
  const [, seconds, fraction = '', zone = 'Z'] =
    /^(\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d)?)(?:[.,](\d{1,9}))?(Z|[ +-]\d\d:?\d\d)?$/i.exec(text) ?? [];
  if (seconds === undefined) return undefined;
  // An unescaped plus sign arrives in a query as a space.
  const offset = zone
    .replace(' ', '+')
    .replace(/^([+-]\d\d)(\d\d)$/, '$1:$2')
    .toUpperCase();
  const milliseconds = Date.parse(`${seconds.replace(' ', 'T')}${offset}`);
  if (Number.isNaN(milliseconds)) return undefined;
  return milliseconds * 1000 + Number(fraction.padEnd(6, '0').slice(0, 6));
}
