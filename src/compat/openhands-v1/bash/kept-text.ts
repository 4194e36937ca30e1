/** The output of one command, on disk once it is long: as strings it would grow the heap far beyond the kept size. */
import { Spool } from '../../../cell/executor/output/spool.js';

export type Stream = 'stdout' | 'stderr';

/** Reused for every piece, which we store before the next one comes. */
const scratch = Buffer.allocUnsafeSlow(3 * 64 * 1024);

export class KeptText {
  readonly #spools: Readonly<Record<Stream, Spool>>;
  #holders = 0;

  /** Keeps the last `limitBytes` of each stream. `file` names files that do not exist yet. */
  constructor(file: () => string, limitBytes: number) {
    const limits = { headBytes: 0, tailBytes: limitBytes };
    this.#spools = { stdout: new Spool(file, limits), stderr: new Spool(file, limits) };
  }

  append(stream: Stream, text: string): void {
    // A character has at most three bytes for each of its UTF-16 units.
    const fits = text.length * 3 <= scratch.length;
    this.#spools[stream].append(fits ? scratch.subarray(0, scratch.write(text)) : Buffer.from(text));
  }

  /** Where the next text of a stream begins, in bytes. */
  end(stream: Stream): number {
    return this.#spools[stream].totalBytes;
  }

  /** Null when there is none, or when we no longer keep it. */
  read(stream: Stream, from: number, to: number): string | null {
    const pieces: Buffer[] = [];
    for (let position = from; position < to; ) {
      const piece = this.#spools[stream].read(position, to - position);
      if (piece.data.length === 0 || piece.from !== position) return null;
      pieces.push(piece.data);
      position += piece.data.length;
    }
    const [first] = pieces;
    if (first === undefined) return null;
    return (pieces.length === 1 ? first : Buffer.concat(pieces)).toString();
  }

  /** Every possible reader holds it; the last release removes it. */
  hold(): this {
    this.#holders++;
    return this;
  }

  release(): void {
    this.#holders--;
    if (this.#holders > 0) return;
    for (const spool of Object.values(this.#spools)) spool.dispose();
  }
}
