/** The git verbs of a runtime. Git runs inside the cell, as plain processes, on every backend alike. */
import { posix } from 'node:path';
import type { Call } from '../call.js';
import type { BlameOptions, GitBlameLine } from './blame.js';
import type { CheckoutOptions, GitBranch } from './branches.js';
import type { ChangesOptions, GitChange } from './changes.js';
import type { CommitOptions } from './commit.js';
import type { FileDiff, FileDiffOptions } from './file-diff.js';
import type { InitOptions } from './init.js';
import type { GitCommit, LogOptions } from './log.js';
import type { DiffOptions, GitPatch } from './patch.js';
import type { CloneOptions, FetchOptions, PushOptions } from './remotes.js';
import type { SetupOptions, SetupResult } from './setup.js';
import type { GitStatus } from './status.js';
import type { AddWorktreeOptions, GitWorktree } from './worktrees.js';

const verbs = () => import('./verbs.js');

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
  /** By the top directory of the repository. */
  readonly #setups: Map<string, Promise<SetupResult>>;

  constructor(call: Call, path: string, setups = new Map<string, Promise<SetupResult>>()) {
    this.#call = call;
    this.#setups = setups;
    this.path = path;
    const place = (other: string) => posix.resolve(path, other);
    this.worktrees = {
      list: async ({ signal } = {}) => (await verbs()).findWorktrees(call, path, signal),
      add: async (other, options = {}) => {
        await (await verbs()).addWorktree(call, path, place(other), options);
        return this.at(other);
      },
      remove: async (other, options = {}) =>
        (await verbs()).removeWorktree(call, path, place(other), options),
    };
  }

  /** Git in another directory; a relative path starts at this one. */
  at(path: string): RuntimeGit {
    return new RuntimeGit(this.#call, posix.resolve(this.path, path), this.#setups);
  }

  /** Makes the directory a repository; one that is a repository already stays as it is. */
  async init(options: InitOptions = {}): Promise<void> {
    await (await verbs()).initialize(this.#call, this.path, options);
  }

  /** Clones into a directory below this one and gives git there. */
  async clone(url: string, options: CloneOptions = {}): Promise<RuntimeGit> {
    return this.at(await (await verbs()).clone(this.#call, this.path, url, options));
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
  async setUp(options: SetupOptions = {}): Promise<SetupResult> {
    return (await verbs()).setUpOnce(this.#call, this.path, this.#setups, options);
  }

  async status({ signal }: Cancellable = {}): Promise<GitStatus> {
    return (await verbs()).findStatus(this.#call, this.path, signal);
  }

  /** Files that differ from a base, in this repository and in those directly below it; new files included. */
  async changes(options: ChangesOptions = {}): Promise<GitChange[]> {
    return (await verbs()).findChanges(this.#call, this.path, options);
  }

  /** What a commit changed, compared with its first parent. */
  async commitChanges(ref: string): Promise<GitChange[]> {
    return (await verbs()).findCommitChanges(this.#call, this.path, ref);
  }

  /** The difference as a patch; a string is the base. */
  async diff(options: string | DiffOptions = {}): Promise<GitPatch> {
    return (await verbs()).findPatch(
      this.#call,
      this.path,
      typeof options === 'string' ? { base: options } : options,
    );
  }

  /** One file as it was and as it is, both whole. */
  async fileDiff(path: string, options: FileDiffOptions = {}): Promise<FileDiff> {
    return (await verbs()).findFileDiff(this.#call, posix.resolve(this.path, path), options);
  }

  /** The branch that is checked out; null on a detached head. */
  async branch({ signal }: Cancellable = {}): Promise<string | null> {
    return (await verbs()).findBranch(this.#call, this.path, signal);
  }

  async branches({ signal }: Cancellable = {}): Promise<GitBranch[]> {
    return (await verbs()).findBranches(this.#call, this.path, signal);
  }

  /** Goes to a branch, or with a detached head to a tag or commit. */
  async checkout(ref: string, options: CheckoutOptions = {}): Promise<void> {
    return (await verbs()).checkOut(this.#call, this.path, ref, options);
  }

  /** Makes a branch with a name of its own, goes there and gives the name. */
  async workBranch(options: Omit<CheckoutOptions, 'create'> = {}): Promise<string> {
    const name = (await verbs()).workBranchName();
    await this.checkout(name, { ...options, create: true });
    return name;
  }

  async commit(message: string, options: CommitOptions = {}): Promise<GitCommit> {
    return (await verbs()).makeCommit(this.#call, this.path, message, options);
  }

  /** Commits, newest first; none before the first. */
  async log(options: LogOptions = {}): Promise<GitCommit[]> {
    return (await verbs()).findCommits(this.#call, this.path, options);
  }

  async blame(path: string, options: BlameOptions = {}): Promise<GitBlameLine[]> {
    return (await verbs()).findBlame(this.#call, this.path, path, options);
  }

  /** The address of `origin`, or of another remote; undefined where there is none. */
  async remoteUrl({
    remote = 'origin',
    signal,
  }: Cancellable & { remote?: string } = {}): Promise<string | undefined> {
    return (await verbs()).findRemoteUrl(this.#call, this.path, remote, signal);
  }

  async fetch(options: FetchOptions = {}): Promise<void> {
    return (await verbs()).fetchFrom(this.#call, this.path, options);
  }

  /** Fetches and brings the current branch forward; histories that went apart are an error. */
  async pull(options: FetchOptions = {}): Promise<void> {
    return (await verbs()).pull(this.#call, this.path, options);
  }

  async push(options: PushOptions = {}): Promise<void> {
    return (await verbs()).push(this.#call, this.path, options);
  }
}
