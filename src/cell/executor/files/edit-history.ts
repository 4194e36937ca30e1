/** Remembers the content of files before edits, so that edits can be undone. */
import { createHash } from 'node:crypto';
import type { Steps } from '../../../base/pace.js';
import { WorkcellError } from '../../../protocol/index.js';
import { quote } from './file-errors.js';

const editsPerFile = 10;
const defaultLimitBytes = 64 * 1024 * 1024;

interface Edit {
  readonly path: string;
  readonly before: Buffer;
  /** Tells whether the file still is as the edit left it. */
  readonly afterDigest: string;
}

export class EditHistory {
  /** Oldest first, over all files. */
  readonly #edits: Edit[] = [];
  readonly #limitBytes: number;
  #bytes = 0;
  #last: Promise<unknown> = Promise.resolve();

  constructor(limitBytes = defaultLimitBytes) {
    this.#limitBytes = limitBytes;
  }

  /** Edits one after the other, so that none reads a file that another is about to write. */
  inOrder<Result>(edit: () => Promise<Result>): Promise<Result> {
    const edited = this.#last.then(edit);
    this.#last = edited.catch(() => {});
    return edited;
  }

  record(path: string, before: Buffer, afterDigest: string): void {
    if (before.length > this.#limitBytes) return;
    this.#edits.push({ path, before, afterDigest });
    this.#bytes += before.length;
    const same = this.#edits.filter((edit) => edit.path === path);
    if (same.length > editsPerFile && same[0] !== undefined) this.#drop(same[0]);
    while (this.#bytes > this.#limitBytes && this.#edits[0] !== undefined) this.#drop(this.#edits[0]);
  }

  /** The content before the last edit of the file. Call `forget` after restoring it. */
  last(path: string, currentDigest: string): { before: Buffer; forget: () => void } {
    const edit = this.#edits.findLast((candidate) => candidate.path === path);
    if (edit === undefined) {
      throw nothing(path, 'it was not edited here, or its edits are no longer kept');
    }
    if (edit.afterDigest !== currentDigest) {
      throw nothing(
        path,
        'it was changed by something else since the last edit, and that change would be lost',
      );
    }
    return { before: edit.before, forget: () => this.#drop(edit) };
  }

  #drop(edit: Edit): void {
    const index = this.#edits.indexOf(edit);
    if (index === -1) return;
    this.#edits.splice(index, 1);
    this.#bytes -= edit.before.length;
  }
}

function nothing(path: string, why: string): WorkcellError {
  return new WorkcellError(
    'edit-nothing-to-undo',
    `Cannot undo an edit of ${quote(path)}: ${why}. Read the file and edit it as you want it.`,
    { details: { path } },
  );
}

/** Bytes of one step. */
const stepLength = 1024 * 1024;

/** Tells contents apart. */
export function* digestOf(data: Buffer): Steps<string> {
  const hash = createHash('sha256');
  for (let start = 0; start < data.length; start += stepLength) {
    hash.update(data.subarray(start, start + stepLength));
    yield;
  }
  return hash.digest('base64');
}
