/** Passes output on to a listener: first the kept part from a position on, then new output, each byte once. */
import type { OutputDelta } from '../../../protocol/index.js';
import type { Spool } from '../output/spool.js';
import { wholeCharacters } from '../output/utf8.js';

export type ProcessStream = 'stdout' | 'stderr';

/** How far a listener has read. The slowest one decides how far the producer may run. */
export type Positions = Record<ProcessStream, number>;

export interface Followed {
  readonly spools: Readonly<Record<ProcessStream, Spool>>;
  /** True when the kept output is everything that a listener still waits for. */
  readonly ended: boolean;
  /** Resolves when there is new output or the end has come. */
  change(): Promise<void>;
  /** Call it after `positions` moved. */
  moved(): void;
}

const pieceBytes = 32 * 1024;

/** Reuse it for every piece: endless output would otherwise make buffers faster than Node collects them. */
const scratch = Buffer.allocUnsafeSlow(pieceBytes);
const streams = ['stdout', 'stderr'] as const;

/** Reads on until the end or until `stopped`. Waits for a listener that returns a promise. */
export async function follow(
  source: Followed,
  positions: Positions,
  listener: (delta: OutputDelta) => unknown,
  stopped: AbortSignal,
): Promise<void> {
  let last: Positions | undefined;
  while (!stopped.aborted) {
    // Do not wait for what background processes print after the end, or a reader might never finish.
    if (source.ended) last ??= totals(source);
    let delivered = false;
    for (const stream of streams) {
      const delta = nextPiece(source.spools[stream], stream, positions, last);
      if (delta === undefined) continue;
      delivered = true;
      const answer = listener(delta);
      if (answer !== undefined) await answer;
      source.moved();
      if (stopped.aborted) return;
    }
    if (delivered) continue;
    if (last !== undefined) return;
    await source.change();
  }
}

/** The next piece of a stream, cut between two characters. At the end the rest comes as it is. */
function nextPiece(
  spool: Spool,
  stream: ProcessStream,
  positions: Positions,
  last: Positions | undefined,
): OutputDelta | undefined {
  const end = last?.[stream] ?? spool.totalBytes;
  const limit = Math.min(pieceBytes, end - positions[stream]);
  if (limit <= 0) return undefined;
  const { data, from } = spool.read(positions[stream], limit, scratch);
  const isRest = last !== undefined && from + data.length >= end;
  const length = isRest ? data.length : wholeCharacters(data);
  positions[stream] = from + length;
  if (length === 0) return undefined;
  return { type: 'output-delta', stream, text: data.toString('utf8', 0, length), sequence: from };
}

function totals({ spools }: Followed): Positions {
  return { stdout: spools.stdout.totalBytes, stderr: spools.stderr.totalBytes };
}
