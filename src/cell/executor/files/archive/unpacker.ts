/** Puts archive members below a directory. Writes no member through a link, and leaves none half written. */
import { linkSync, lstatSync, mkdirSync, symlinkSync } from 'node:fs';
import { at, type Directory } from '../directory.js';
import { isErrno } from '../file-errors.js';
import { renameFile, unlinkFile } from '../free-space.js';
import { hiddenName, NewFile } from '../new-file.js';
import { type Budget, refused } from './archive-limits.js';
import { MemberNames, noFile } from './member-names.js';

const permissionBits = 0o777;

/** Gets the members of an archive one by one. */
export type MemberReceiver = Pick<Unpacker, 'directory' | 'file' | 'symbolicLink' | 'hardLink'>;

type InOrder = (change: () => Promise<void>) => Promise<void>;

export class Unpacker {
  readonly #root: Directory;
  readonly #budget: Budget;
  readonly #inOrder: InOrder;
  readonly #names = new MemberNames();
  files = 0;
  sizeBytes = 0;

  /** `inOrder`: makes a change of a name when it is its turn. */
  constructor(root: Directory, budget: Budget, inOrder: InOrder) {
    this.#root = root;
    this.#budget = budget;
    this.#inOrder = inOrder;
  }

  async directory(member: string, mode: number | undefined): Promise<void> {
    this.#budget.entry();
    const names = this.#names.directory(member);
    const name = names.at(-1);
    if (name === undefined) return;
    await this.#inParent(names, (parent) => {
      // Leave the owner all rights, or we could not write the members below.
      makeDirectory(parent, name, ((mode ?? 0o755) & permissionBits) | 0o700);
      openMember(parent, name, member).close();
    });
  }

  async file(member: string, mode: number | undefined, content: AsyncIterable<Uint8Array>): Promise<void> {
    this.#budget.entry();
    const names = this.#names.file(member);
    const name = names.at(-1) as string;
    const parent = this.#openParent(names);
    try {
      await using file = new NewFile(parent);
      for await (const chunk of content) {
        await file.writeLong(chunk);
        this.sizeBytes += chunk.length;
      }
      await this.#inOrder(() => file.commit(name, { mode: (mode || 0o644) & permissionBits }));
      this.files++;
    } finally {
      if (parent !== this.#root) parent.close();
    }
  }

  async symbolicLink(member: string, target: string): Promise<void> {
    this.#budget.entry();
    const names = this.#names.symbolicLink(member, target);
    const name = names.at(-1) as string;
    await this.#inParent(names, (parent) =>
      this.#inOrder(() => putInPlace(parent, name, (hidden) => symlinkSync(target, at(parent, hidden)))),
    );
    this.files++;
  }

  /** A second name for a member that we unpacked earlier. */
  async hardLink(member: string, target: string): Promise<void> {
    this.#budget.entry();
    const { names, target: targetNames } = this.#names.hardLink(member, target);
    const name = names.at(-1) as string;
    const targetName = targetNames.at(-1) as string;
    await this.#inParent(targetNames, async (source) => {
      const stats = lstatSync(at(source, targetName), { throwIfNoEntry: false });
      if (!stats?.isFile()) throw noFile(member, target);
      await this.#inParent(names, (parent) =>
        this.#inOrder(() =>
          putInPlace(parent, name, (hidden) => linkSync(at(source, targetName), at(parent, hidden))),
        ),
      );
    });
    this.files++;
  }

  async #inParent(
    names: readonly string[],
    work: (parent: Directory) => void | Promise<void>,
  ): Promise<void> {
    const parent = this.#openParent(names);
    try {
      await work(parent);
    } finally {
      if (parent !== this.#root) parent.close();
    }
  }

  #openParent(names: readonly string[]): Directory {
    let directory = this.#root;
    for (const name of names.slice(0, -1)) {
      const parent = directory;
      try {
        makeDirectory(parent, name, 0o755);
        directory = openMember(parent, name, names.join('/'));
      } finally {
        if (parent !== this.#root) parent.close();
      }
    }
    return directory;
  }
}

function makeDirectory(parent: Directory, name: string, mode: number): void {
  try {
    mkdirSync(at(parent, name), mode);
  } catch (error) {
    if (!isErrno(error, 'EEXIST')) throw error;
  }
}

function openMember(parent: Directory, name: string, member: string): Directory {
  try {
    return parent.open(name);
  } catch (error) {
    if (!isErrno(error, 'ENOTDIR')) throw error;
    throw refused(
      `${JSON.stringify(name)}, which it is to go below, is a link or a file and not a directory`,
      'Remove what is in the way, or unpack into an empty directory.',
      { member, cause: error },
    );
  }
}

async function putInPlace(parent: Directory, name: string, make: (hidden: string) => void): Promise<void> {
  const hidden = hiddenName();
  make(hidden);
  try {
    await renameFile(at(parent, hidden), at(parent, name));
  } finally {
    // A rename that fails, or between two names of one file, leaves both.
    await unlinkFile(at(parent, hidden)).catch((error: unknown) => {
      if (!isErrno(error, 'ENOENT')) throw error;
    });
  }
}
