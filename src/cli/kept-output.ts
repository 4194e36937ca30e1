/** Prints the output that a cell keeps of a process: all that is there, and how much is not. */
import type { Action, Observation } from '../protocol/index.js';

const streams = ['stdout', 'stderr'] as const;

export interface KeptOutput {
  read(action: Action<'read_output'>): Promise<Observation<'read_output'>>;
  write(stream: (typeof streams)[number], text: string): void | Promise<void>;
  /** Called where bytes are missing, between what was written before and what follows. */
  onGap(bytes: number): void;
}

/** Up to where each stream is now: a process may write faster than this reads. */
export async function printKept(outputId: string, output: KeptOutput, signal: AbortSignal): Promise<void> {
  for (const stream of streams) {
    let decoder = new TextDecoder();
    // The first half of a character whose second half is not there shows as a sign of its own.
    const flush = () => output.write(stream, decoder.decode());
    let end = Number.POSITIVE_INFINITY;
    for (let from = 0; from < end && !signal.aborted; ) {
      const part = await output.read({
        action: 'read_output',
        outputId,
        stream,
        from,
        limitBytes: 1_048_576,
        encoding: 'base64',
      });
      if (part.from > from) {
        await flush();
        decoder = new TextDecoder();
        output.onGap(part.from - from);
      }
      await output.write(stream, decoder.decode(Buffer.from(part.data, 'base64'), { stream: true }));
      end = Math.min(end, part.totalBytes);
      if (part.next <= from) break;
      from = part.next;
    }
    await flush();
  }
}
