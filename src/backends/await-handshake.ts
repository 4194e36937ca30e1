/**
 * The trusted end of the boot protocol (`src/cell/server/boot-protocol.ts`): waits for the handshake of a new program.
 */
import { readUntrustedJson } from '../base/untrusted-json.js';
import { type Handshake, handshakeMark, handshakeSchema } from '../cell/server/boot-protocol.js';
import { WorkcellError } from '../protocol/index.js';

const keptLines = 20;
const longestLine = 2000;
const longestHandshake = 65_536;

export type Ready = Extract<Handshake, { ready: true }>;

export interface Booting {
  /** The program that starts, as the subject of a sentence. */
  readonly who: string;
  /** The handshake as JSON; undefined when the output ended without one. */
  readonly said: Promise<string | undefined>;
  /** How it ended, in words. */
  readonly ended: Promise<string>;
  readonly limitMs: number;
  readonly signal?: AbortSignal | undefined;
  /** The last lines that it logged. */
  readonly log?: LogTail | undefined;
}

/** Throws the error in the handshake when it is a refusal. */
export async function awaitHandshake(booting: Booting): Promise<Ready> {
  const { who, said, ended, log } = booting;
  const notStarted = (how: string) =>
    new WorkcellError('backend-unavailable', `${who} did not start: ${how}.${log?.quote() ?? ''}`, {
      details: { log: [...(log?.lines ?? [])] },
    });
  // The end of a program may be reported before its last output has arrived.
  const line = await inTime(Promise.race([said, ended.then(() => said)]), booting, notStarted);
  // What tells of the end may keep no process alive by itself; the limit does.
  if (line === undefined) throw notStarted(await inTime(ended, booting, notStarted));
  const handshake = handshakeSchema.safeParse(readUntrustedJson(line));
  if (!handshake.success) throw notStarted(`it said ${JSON.stringify(line.slice(0, 200))}`);
  if (!('error' in handshake.data)) return handshake.data;
  const { code, message, details } = handshake.data.error;
  throw new WorkcellError(code, message, { details: details ?? {} });
}

/** The last lines of a log, each passed on as it comes. */
export class LogTail {
  readonly lines: string[] = [];
  onLine: (line: string) => void = () => {};
  /** Takes text in pieces. */
  readonly take = eachLine((line) => this.add(line));

  add(given: string): void {
    const line = given.slice(0, longestLine);
    this.lines.push(line);
    if (this.lines.length > keptLines) this.lines.shift();
    this.onLine(line);
  }

  /** As the end of a message. */
  quote(): string {
    return this.lines.length === 0 ? '' : ` Its last lines:\n${this.lines.join('\n')}`;
  }
}

/** Takes standard output in pieces and calls back with the handshake in it. All else goes to the log. */
export function findHandshake(deliver: (json: string) => void, log: LogTail): (text: string) => void {
  return eachLine((line) => {
    if (line.startsWith(handshakeMark)) deliver(line.slice(handshakeMark.length));
    else if (line !== '') log.add(line);
  }, longestHandshake);
}

/** Splits text that arrives in pieces into lines, none of them longer than a line should be. */
function eachLine(deliver: (line: string) => void, longest = longestLine): (text: string) => void {
  let rest = '';
  return (text) => {
    const lines = `${rest}${text}`.split('\n');
    rest = (lines.pop() ?? '').slice(-longest);
    for (const line of lines) deliver(line.slice(0, longest));
  };
}

/** Rejects when nothing came in time, or when the signal aborts first. */
async function inTime<T>(
  promise: Promise<T>,
  { limitMs, signal }: Booting,
  notStarted: (how: string) => WorkcellError,
): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  let onAbort = () => {};
  const interrupted = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(notStarted(`it was silent for ${limitMs / 1000} s`)), limitMs);
    onAbort = () => reject(new WorkcellError('cancelled', 'The start of the cell was cancelled.'));
    if (signal?.aborted) onAbort();
    signal?.addEventListener('abort', onAbort, { once: true });
  });
  try {
    return await Promise.race([promise, interrupted]);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', onAbort);
  }
}
