/** Words that clients keep with files. The file verbs know no extended attributes, so they live with this process. */
export class FileMetadata {
  readonly #byPath = new Map<string, Readonly<Record<string, string>>>();

  get(path: string): Readonly<Record<string, string>> | undefined {
    return this.#byPath.get(path);
  }

  /** Replaces all that the file had. */
  set(path: string, metadata: Readonly<Record<string, string>> | undefined): void {
    this.#byPath.delete(path);
    if (metadata === undefined || Object.keys(metadata).length === 0) return;
    this.#byPath.set(path, metadata);
    for (const oldest of this.#byPath.keys()) {
      if (this.#byPath.size <= mostFiles) return;
      this.#byPath.delete(oldest);
    }
  }

  /** Moves the metadata of a path and everything below it; without a target it forgets them. */
  move(from: string, to: string | undefined): void {
    for (const [path, metadata] of [...this.#byPath]) {
      if (path !== from && !path.startsWith(`${from}/`)) continue;
      this.#byPath.delete(path);
      if (to !== undefined) this.#byPath.set(`${to}${path.slice(from.length)}`, metadata);
    }
  }
}

const mostFiles = 10_000;
