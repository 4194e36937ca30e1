/** The git verbs of a runtime. Git runs inside the cell, as plain processes, on every backend alike. */
import { posix } from 'node:path';
import type { Call } from '../call.js';
import { type BlameOptions, findBlame, type GitBlameLine } from './blame.js';
import {
  type CheckoutOptions,
  checkOut,
  findBranch,
  findBranches,
  type GitBranch,
  workBranchName,
} from './branches.js';
import { type ChangesOptions, findChanges, type GitChange } from './changes.js';
import { output, work } from './command.js';
import { type CommitOptions, makeCommit } from './commit.js';
import { type FileDiff, type FileDiffOptions, findFileDiff } from './file-diff.js';
import { findCommitChanges, findCommits, type GitCommit, type LogOptions } from './log.js';
import { type DiffOptions, findPatch, type GitPatch } from './patch.js';
import {
  type CloneOptions,
  clone,
  type FetchOptions,
  fetchFrom,
  findRemoteUrl,
  type PushOptions,
  pull,
  push,
} from './remotes.js';
import { checkName } from './revisions.js';
import { type SetupOptions, type SetupResult, setUp } from './setup.js';
import { findStatus, type GitStatus } from './status.js';
import {
  type AddWorktreeOptions,
  addWorktree,
  findWorktrees,
  type GitWorktree,
  removeWorktree,
} from './worktrees.js';

interface Cancellable {
  readonly signal?: AbortSignal | undefined;
}

export interface PrepareOptions extends CloneOptions {
  /** What to clone. Default: nothing, the directory becomes a repository if it is none. */
  readonly repository?: string | undefined;
}

/** Git in one directory of the cell. */
export class RuntimeGit {
  /** The directory, as seen from inside. */
  readonly path: string;
  readonly worktrees: {
    list(options?: Cancellable): Promise<GitWorktree[]>;
    /** Gives git in the new working tree. */
    add(path: string, options?: AddWorktreeOptions): Promise<RuntimeGit>;
    remove(path: string, options?: Cancellable & { force?: boolean }): Promise<void>;
  };

  readonly #call: Call;
  readonly #setups: Map<string, Promise<SetupResult>>;

  constructor(call: Call, path: string, setups = new Map<string, Promise<SetupResult>>()) {
    this.#call = call;
    this.#setups = setups;
    this.path = path;
    const place = (other: string) => posix.resolve(path, other);
    this.worktrees = {
      list: ({ signal } = {}) => findWorktrees(call, path, signal),
      add: async (other, options = {}) => {
        await addWorktree(call, path, place(other), options);
        return this.at(other);
      },
      remove: (other, options = {}) => removeWorktree(call, path, place(other), options),
    };
  }

  /** Git in another directory; a relative path starts at this one. */
  at(path: string): RuntimeGit {
    return new RuntimeGit(this.#call, posix.resolve(this.path, path), this.#setups);
  }

  /** Makes the directory a repository; one that is a repository already stays as it is. */
  async init({ branch = 'main', signal }: Cancellable & { branch?: string } = {}): Promise<void> {
    const name = checkName('branch', branch);
    await output(work(this.#call, this.path, { signal }), [
      'init',
      '--quiet',
      '--template=',
      `--initial-branch=${name}`,
    ]);
  }

  /** Clones into a directory below this one and gives git there. */
  async clone(url: string, options: CloneOptions = {}): Promise<RuntimeGit> {
    return this.at(await clone(this.#call, this.path, url, options));
  }

  /** All that comes before work: clones or makes a repository, goes to the branch or to a new work branch, sets up. */
  async prepare({ repository, ...options }: PrepareOptions = {}): Promise<RuntimeGit> {
    const { signal } = options;
    if (repository === undefined) {
      await this.init({ signal });
      await this.setUp({ signal });
      return this;
    }
    const git = await this.clone(repository, options);
    if (options.branch === undefined) await git.workBranch({ signal });
    await git.setUp({ signal });
    return git;
  }

  /** Sources `.workcell/setup.sh` or `.openhands/setup.sh` and installs `pre-commit.sh`, once in the life of the runtime. */
  setUp(options: SetupOptions = {}): Promise<SetupResult> {
    const known = this.#setups.get(this.path);
    if (known !== undefined) return known;
    const done = setUp(this.#call, this.path, options);
    this.#setups.set(this.path, done);
    // What never ran may be tried again.
    done.catch(() => this.#setups.delete(this.path));
    return done;
  }

  status({ signal }: Cancellable = {}): Promise<GitStatus> {
    return findStatus(this.#call, this.path, signal);
  }

  /** Files that differ from a base, in this repository and in those directly below it; new files included. */
  changes(options: ChangesOptions = {}): Promise<GitChange[]> {
    return findChanges(this.#call, this.path, options);
  }

  /** What a commit changed, compared with its first parent. */
  commitChanges(ref: string): Promise<GitChange[]> {
    return findCommitChanges(this.#call, this.path, ref);
  }

  /** The difference as a patch; a string is the base. */
  diff(options: string | DiffOptions = {}): Promise<GitPatch> {
    return findPatch(this.#call, this.path, typeof options === 'string' ? { base: options } : options);
  }

  /** One file as it was and as it is, both whole. */
  fileDiff(path: string, options: FileDiffOptions = {}): Promise<FileDiff> {
    return findFileDiff(this.#call, posix.resolve(this.path, path), options);
  }

  /** The branch that is checked out; null on a detached head. */
  branch({ signal }: Cancellable = {}): Promise<string | null> {
    return findBranch(this.#call, this.path, signal);
  }

  branches({ signal }: Cancellable = {}): Promise<GitBranch[]> {
    return findBranches(this.#call, this.path, signal);
  }

  /** Goes to a branch, or with a detached head to a tag or commit. */
  checkout(ref: string, options: CheckoutOptions = {}): Promise<void> {
    return checkOut(this.#call, this.path, ref, options);
  }

  /** Makes a branch with a name of its own, goes there and gives the name. */
  async workBranch(options: Omit<CheckoutOptions, 'create'> = {}): Promise<string> {
    const name = workBranchName();
    await this.checkout(name, { ...options, create: true });
    return name;
  }

  commit(message: string, options: CommitOptions = {}): Promise<GitCommit> {
    return makeCommit(this.#call, this.path, message, options);
  }

  /** Commits, newest first; none before the first. */
  log(options: LogOptions = {}): Promise<GitCommit[]> {
    return findCommits(this.#call, this.path, options);
  }

  blame(path: string, options: BlameOptions = {}): Promise<GitBlameLine[]> {
    return findBlame(this.#call, this.path, path, options);
  }

  /** The address of `origin`, or of another remote; undefined where there is none. */
  remoteUrl({
    remote = 'origin',
    signal,
  }: Cancellable & { remote?: string } = {}): Promise<string | undefined> {
    return findRemoteUrl(this.#call, this.path, remote, signal);
  }

  fetch(options: FetchOptions = {}): Promise<void> {
    return fetchFrom(this.#call, this.path, options);
  }

  /** Fetches and brings the current branch forward; histories that went apart are an error. */
  pull(options: FetchOptions = {}): Promise<void> {
    return pull(this.#call, this.path, options);
  }

  push(options: PushOptions = {}): Promise<void> {
    return push(this.#call, this.path, options);
  }
}
