/** The git verbs of a runtime. Git runs inside the cell, as plain processes, on every backend alike. */
import { posix } from 'node:path';
import type { Call } from '../verb-call.js';
import type { BlameOptions, GitBlameLine } from './blame.js';
import type { CheckoutOptions, GitBranch } from './branches.js';
import type { CommitOptions } from './commit.js';
import type { FileDiff, FileDiffOptions } from './file-diff.js';
import type { ChangesOptions, GitChange } from './git-changes.js';
import type { GitCommit, LogOptions } from './git-log.js';
import type { GitStatus } from './git-status.js';
import type { InitOptions } from './init.js';
import type { DiffOptions, GitPatch } from './patch.js';
import type { CloneOptions, FetchOptions, PushOptions } from './remotes.js';
import type { SetupOptions, SetupResult } from './setup.js';
import type { AddWorktreeOptions, GitWorktree } from './worktrees.js';

const verbs = () => import('./git-verbs.js');
type Verbs = Awaited<ReturnType<typeof verbs>>;

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
    /** Returns git in the new working tree. */
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
      list: async ({ signal } = {}) =>
        this.#do(['worktree', 'list'], (git, steps) => git.findWorktrees(steps, path, signal)),
      add: async (other, options = {}) => {
        await this.#do(['worktree', 'add', place(other)], (git, steps) =>
          git.addWorktree(steps, path, place(other), options),
        );
        return this.at(other);
      },
      remove: async (other, options = {}) =>
        this.#do(['worktree', 'remove', place(other)], (git, steps) =>
          git.removeWorktree(steps, path, place(other), options),
        ),
    };
  }

  /** Git in another directory; a relative path starts at this one. */
  at(path: string): RuntimeGit {
    return new RuntimeGit(this.#call, posix.resolve(this.path, path), this.#setups);
  }

  /** Makes the directory a repository; one that is a repository already stays as it is. */
  async init(options: InitOptions = {}): Promise<void> {
    await this.#do(['init'], (git, steps) => git.initialize(steps, this.path, options));
  }

  /** Clones into a directory below this one. Returns git there. */
  async clone(url: string, options: CloneOptions = {}): Promise<RuntimeGit> {
    const words = ['clone', '--', url, ...(options.into === undefined ? [] : [options.into])];
    return this.at(await this.#do(words, (git, steps) => git.clone(steps, this.path, url, options)));
  }

  /**
   * Everything before the work: clones or creates a repository, checks out the branch or a new work branch, sets up.
   */
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
    return this.#call.perform({ action: 'set_up_repository', cwd: this.path }, async (steps) =>
      (await verbs()).setUpOnce(steps, this.path, this.#setups, options),
    );
  }

  async status({ signal }: Cancellable = {}): Promise<GitStatus> {
    return this.#do(['status'], (git, steps) => git.findStatus(steps, this.path, signal));
  }

  /** Files that differ from a base, in this repository and in those directly below it; new files included. */
  async changes(options: ChangesOptions = {}): Promise<GitChange[]> {
    return this.#do(['diff', '--name-status'], (git, steps) => git.findChanges(steps, this.path, options));
  }

  /** What a commit changed, compared with its first parent. */
  async commitChanges(ref: string): Promise<GitChange[]> {
    return this.#do(['show', ref], (git, steps) => git.findCommitChanges(steps, this.path, ref));
  }

  /** The difference as a patch; a string is the base. */
  async diff(options: string | DiffOptions = {}): Promise<GitPatch> {
    const given = typeof options === 'string' ? { base: options } : options;
    return this.#do(['diff'], (git, steps) => git.findPatch(steps, this.path, given));
  }

  /** One file as it was and as it is, both whole. */
  async fileDiff(path: string, options: FileDiffOptions = {}): Promise<FileDiff> {
    const file = posix.resolve(this.path, path);
    return this.#do(['diff', '--', file], (git, steps) => git.findFileDiff(steps, file, options));
  }

  /** The current branch; null on a detached head. */
  async branch({ signal }: Cancellable = {}): Promise<string | null> {
    return this.#do(['branch', '--show-current'], (git, steps) => git.findBranch(steps, this.path, signal));
  }

  async branches({ signal }: Cancellable = {}): Promise<GitBranch[]> {
    return this.#do(['branch', '--list'], (git, steps) => git.findBranches(steps, this.path, signal));
  }

  /** Goes to a branch, or with a detached head to a tag or commit. */
  async checkout(ref: string, options: CheckoutOptions = {}): Promise<void> {
    const words = ['checkout', ...(options.create === true ? ['-b'] : []), ref];
    return this.#do(words, (git, steps) => git.checkOut(steps, this.path, ref, options));
  }

  /** Makes a branch with a new name, checks it out and returns the name. */
  async workBranch(options: Omit<CheckoutOptions, 'create'> = {}): Promise<string> {
    const name = (await verbs()).workBranchName();
    await this.checkout(name, { ...options, create: true });
    return name;
  }

  async commit(message: string, options: CommitOptions = {}): Promise<GitCommit> {
    return this.#do(['commit', '-m', message], (git, steps) =>
      git.makeCommit(steps, this.path, message, options),
    );
  }

  /** Commits, newest first; none before the first. */
  async log(options: LogOptions = {}): Promise<GitCommit[]> {
    return this.#do(['log'], (git, steps) => git.findCommits(steps, this.path, options));
  }

  async blame(path: string, options: BlameOptions = {}): Promise<GitBlameLine[]> {
    return this.#do(['blame', '--', path], (git, steps) => git.findBlame(steps, this.path, path, options));
  }

  /** The address of `origin`, or of another remote; undefined where there is none. */
  async remoteUrl({
    remote = 'origin',
    signal,
  }: Cancellable & { remote?: string } = {}): Promise<string | undefined> {
    return this.#do(['remote', 'get-url', remote], (git, steps) =>
      git.findRemoteUrl(steps, this.path, remote, signal),
    );
  }

  async fetch(options: FetchOptions = {}): Promise<void> {
    return this.#do(['fetch', options.remote ?? 'origin'], (git, steps) =>
      git.fetchFrom(steps, this.path, options),
    );
  }

  /** Fetches and brings the current branch forward. Throws when the histories have diverged. */
  async pull(options: FetchOptions = {}): Promise<void> {
    return this.#do(['pull', options.remote ?? 'origin'], (git, steps) =>
      git.pull(steps, this.path, options),
    );
  }

  async push(options: PushOptions = {}): Promise<void> {
    const { remote = 'origin', branch, force } = options;
    const words = ['push', ...(force === true ? ['--force-with-lease'] : []), remote];
    return this.#do([...words, ...(branch === undefined ? [] : [branch])], (git, steps) =>
      git.push(steps, this.path, options),
    );
  }

  /** Judges it as the command that a person would type; the steps that make it safe are our own. */
  #do<Result>(words: readonly string[], work: (git: Verbs, steps: Call) => Promise<Result>): Promise<Result> {
    return this.#call.perform({ action: 'git', argv: ['git', ...words], cwd: this.path }, async (steps) =>
      work(await verbs(), steps),
    );
  }
}
