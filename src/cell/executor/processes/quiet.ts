/** Knows when all output of an ended process has arrived, although its children may keep the pipes open. */

/** What `untilQuiet` needs to know about a process. */
export interface Source {
  /** Changes with each piece that arrives. */
  readonly receivedBytes: number;
  /** True when nothing more can arrive. */
  readonly closed: boolean;
  /** Set while reading is paused; settles when it continues. */
  readonly held: Promise<void> | undefined;
}

/** A turn of the event loop reads all that is readable; a second one covers what came in between. */
const quietTurns = 2;

/** More than pipes hold: after this much, we have read everything that was in them at the start. */
const pipeBytes = 2 * 1024 * 1024;

/**
 * Waits until we have read everything written before this call. That is when the source closes. Because another
 * process may keep it open for ever, it is also when whole turns of the event loop bring nothing more, or when more
 * came than a pipe holds.
 */
export async function untilQuiet(source: Source): Promise<void> {
  const enough = source.receivedBytes + pipeBytes;
  let quiet = 0;
  while (!source.closed && quiet < quietTurns && source.receivedBytes < enough) {
    if (source.held !== undefined) {
      await source.held;
      quiet = 0;
      continue;
    }
    const before = source.receivedBytes;
    await new Promise((resolve) => setImmediate(resolve));
    quiet = source.receivedBytes === before && source.held === undefined ? quiet + 1 : 0;
  }
}
