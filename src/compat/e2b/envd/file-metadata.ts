type Metadata = Readonly<Record<string, string>>;

/** What the words of all files of a sandbox take in memory at most, and what one file takes besides its words. */
const mostBytes = 1024 * 1024;
const fixedBytes = 200;

/** Words that clients keep with files. The file verbs know no extended attributes, so they live with this process. */
export class FileMetadata {
  readonly #byPath = new Map<string, Metadata>();
  #bytes = 0;

  get(path: string): Metadata | undefined {
    return this.#byPath.get(path);
  }

  /** Replaces all that the file had. The oldest go when there are too many. */
  set(path: string, metadata: Metadata | undefined): void {
    this.#delete(path);
    if (metadata === undefined || Object.keys(metadata).length === 0) return;
    this.#byPath.set(path, metadata);
    this.#bytes += sizeOf(path, metadata);
    for (const oldest of this.#byPath.keys()) {
      if (this.#bytes <= mostBytes) return;
      this.#delete(oldest);
    }
  }

  /** Moves the metadata of a path and everything below it; without a target it forgets them. */
  move(from: string, to: string | undefined): void {
    for (const [path, metadata] of [...this.#byPath]) {
      if (path !== from && !path.startsWith(`${from}/`)) continue;
      this.#delete(path);
      if (to !== undefined) this.set(`${to}${path.slice(from.length)}`, metadata);
    }
  }

  #delete(path: string): void {
    const metadata = this.#byPath.get(path);
    if (metadata === undefined) return;
    this.#byPath.delete(path);
    this.#bytes -= sizeOf(path, metadata);
  }
}

/** Two bytes for a character. */
function sizeOf(path: string, metadata: Metadata): number {
  const words = Object.entries(metadata).flat();
  return fixedBytes + 2 * words.reduce((sum, word) => sum + word.length, path.length);
}
