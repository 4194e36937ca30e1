/** Earlier versions of edited files, the last few of each. */
const versionsPerFile = 10;
/** Over all files; the oldest versions go first. */
const maxCharacters = 64 * 1024 * 1024;

export class History {
  #versions: { readonly path: string; readonly text: string }[] = [];

  push(path: string, text: string): void {
    this.#versions.push({ path, text });
    const same = this.#versions.filter((version) => version.path === path);
    if (same.length > versionsPerFile)
      this.#versions = this.#versions.filter((version) => version !== same[0]);
    while (this.#versions.length > 1 && this.#characters() > maxCharacters) this.#versions.shift();
  }

  /** Returns the last version and forgets it; undefined without one. */
  pop(path: string): string | undefined {
    const index = this.#versions.findLastIndex((version) => version.path === path);
    return index === -1 ? undefined : this.#versions.splice(index, 1)[0]?.text;
  }

  #characters(): number {
    return this.#versions.reduce((sum, { text }) => sum + text.length, 0);
  }
}
