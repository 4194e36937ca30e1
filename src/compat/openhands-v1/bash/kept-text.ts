/** What one command printed, on disk once it is long: as strings it would grow the heap far beyond what is kept. */
import { Spool } from '../../../cell/executor/output/spool.js';

export type Stream = 'stdout' | 'stderr';

/** Used again for every piece, which is stored before the next one comes. */
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

  /** Null when there is none, or when it is no longer kept. */
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

  /** Everyone who may still read it holds it; with the last one it goes. */
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
