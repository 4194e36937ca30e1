/** A file that takes its place only when it is complete: written under a hidden name, then renamed. */
import { randomBytes } from 'node:crypto';
import { constants, fchmod, fchownSync, fstatSync, openSync, type Stats } from 'node:fs';
import { promisify } from 'node:util';
import { writeLong, writeWhole } from './bytes.js';
import { at, type Directory, type Name } from './directory.js';
import { isErrno } from './file-errors.js';
import { closeFile, renameFile, unlinkFile } from './free-space.js';

const changeMode = promisify(fchmod);

const hiddenPrefix = '.workcell-';

/** A name for something that is not complete yet. */
export function hiddenName(): string {
  return `${hiddenPrefix}${randomBytes(8).toString('hex')}`;
}

export function isHiddenName(name: string): boolean {
  return name.startsWith(hiddenPrefix);
}

export class NewFile {
  readonly fd: number;
  readonly #directory: Directory;
  readonly #hidden = hiddenName();
  #open = true;

  /** Keep the directory open until you commit or discard the file. */
  constructor(directory: Directory) {
    this.#directory = directory;
    const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
    this.fd = openSync(at(directory, this.#hidden), flags, 0o600);
  }

  write(data: Uint8Array): void {
    writeWhole(this.fd, data);
  }

  async writeLong(data: Uint8Array): Promise<void> {
    await writeLong(this.fd, data);
  }

  /** Puts the file in its place. `replaced`: the file whose owner it takes over, where the system allows that. */
  async commit(name: Name, options: { mode: number; replaced?: Stats | undefined }): Promise<void> {
    if (options.replaced !== undefined) this.#takeOwner(options.replaced);
    await changeMode(this.fd, options.mode);
    await renameFile(at(this.#directory, this.#hidden), at(this.#directory, name));
    this.#release();
  }

  /** Leaves nothing behind; does nothing after a commit. */
  async discard(): Promise<void> {
    if (!this.#open) return;
    try {
      // Before the descriptor closes, which then frees the space where that holds up nobody.
      await unlinkFile(at(this.#directory, this.#hidden));
    } catch (error) {
      if (!isErrno(error, 'ENOENT')) throw error;
    } finally {
      this.#release();
    }
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.discard();
  }

  #takeOwner({ uid, gid }: Stats): void {
    const own = fstatSync(this.fd);
    if (own.uid === uid && own.gid === gid) return;
    try {
      fchownSync(this.fd, uid, gid);
    } catch (error) {
      // Only a privileged process may give files away; another keeps what it wrote.
      if (!isErrno(error, 'EPERM', 'EINVAL')) throw error;
    }
  }

  #release(): void {
    this.#open = false;
    closeFile(this.fd);
  }
}
