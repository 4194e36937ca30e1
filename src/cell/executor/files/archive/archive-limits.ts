/** Keeps an archive from unpacking into more than anybody meant to send. */
import { WorkcellError } from '../../../../protocol/index.js';
import { errnoOf } from '../file-errors.js';

export interface ArchiveLimits {
  readonly entries: number;
  /** Unpacked, all members together. */
  readonly totalBytes: number;
  /** Unpacked bytes for each packed one, once there are more than `ratioFromBytes`. */
  readonly ratio: number;
  readonly ratioFromBytes: number;
}

export const defaultArchiveLimits: ArchiveLimits = {
  entries: 100_000,
  totalBytes: 4 * 1024 ** 3,
  ratio: 1000,
  ratioFromBytes: 64 * 1024 ** 2,
};

/** Counts bytes in and out while an archive unpacks. */
export class Budget {
  readonly #limits: ArchiveLimits;
  #packedBytes = 0;
  #unpackedBytes = 0;
  #entries = 0;

  constructor(limits: ArchiveLimits) {
    this.#limits = limits;
  }

  packed(bytes: number): void {
    this.#packedBytes += bytes;
    if (this.#packedBytes > this.#limits.totalBytes) throw this.#tooLarge();
  }

  unpacked(bytes: number): void {
    const { totalBytes, ratio, ratioFromBytes } = this.#limits;
    this.#unpackedBytes += bytes;
    if (this.#unpackedBytes > totalBytes) throw this.#tooLarge();
    if (this.#unpackedBytes > ratioFromBytes && this.#unpackedBytes > ratio * this.#packedBytes) {
      throw refused(
        `it unpacks to more than ${ratio} times its size, which is how an archive bomb looks`,
        'Send the files uncompressed if they are really meant.',
      );
    }
  }

  entry(): void {
    if (++this.#entries <= this.#limits.entries) return;
    throw refused(`it has more than ${this.#limits.entries} members`, 'Split it into several archives.');
  }

  #tooLarge(): WorkcellError {
    return refused(
      `it unpacks to more than ${this.#limits.totalBytes} bytes`,
      'Split it into several archives, or leave large files out.',
    );
  }
}

export function refused(
  why: string,
  advice: string,
  options: { member?: string; cause?: unknown } = {},
): WorkcellError {
  const { member, cause } = options;
  const which =
    member === undefined ? 'The archive' : `The archive member ${JSON.stringify(member.slice(0, 300))}`;
  return new WorkcellError('archive-refused', `${which} is refused: ${why}. ${advice}`, {
    details: member === undefined ? {} : { member },
    ...(cause === undefined ? {} : { cause }),
  });
}

/**
 * The error for an archive that we could not read. Passes on typed errors and those of the operating system; every
 * other one is a complaint of the code that reads the archive.
 */
export function unreadable(error: unknown): unknown {
  if (WorkcellError.isInstance(error) || errnoOf(error)?.startsWith('E')) return error;
  const why = error instanceof Error ? error.message : String(error);
  return refused(`it cannot be read (${why})`, 'Check that it is complete and of the named format.', {
    cause: error,
  });
}
