import { Pace, walkMs } from '../../../../base/pace.js';
import type { GrepMatch } from '../../../../protocol/index.js';
import type { Launcher } from '../../../launchers/launcher.js';
import { readOwned } from '../bytes.js';
import { errnoOf, explained } from '../file-errors.js';
import type { Tree } from '../file-tree.js';
import { closeFile } from '../free-space.js';
import { compareNames } from '../paths.js';
import { type CompiledPattern, compilePattern } from './regex.js';
import { type LineMatch, Matcher } from './regex-worker.js';
import { ripgrepPattern } from './ripgrep-pattern.js';
import {
  type Candidate,
  type CandidateOptions,
  candidates,
  type SearchOptions,
} from './search-candidates.js';

export interface GrepOptions extends SearchOptions {
  readonly pattern: string;
  readonly ignoreCase?: boolean | undefined;
  readonly literal?: boolean | undefined;
  readonly context: number;
  readonly limit: number;
  readonly launcher?: Launcher | undefined;
  /** How long one batch of files may take to match. */
  readonly matchTimeoutMs?: number | undefined;
}

export interface Grepped {
  readonly matches: GrepMatch[];
  readonly truncated: boolean;
  readonly program?: 'rg';
}

/** Searches a larger file up to here, and marks the result as incomplete. */
const maxFileBytes = 64 * 1024 * 1024;
const batchBytes = 1024 * 1024;
const batchFiles = 256;
/** All texts of the result together. */
const maxResultCharacters = 8 * 1024 * 1024;
/** All batches together; afterwards the search returns what it has found. */
const maxMatchMs = 30_000;

/**
 * Searches file contents. The cell's ripgrep may say which files of a large tree to look into. This process opens them
 * and finds the lines itself: a search program opens files by path, and with the rights of this process a directory
 * swapped for a link would lead it out of the tree.
 */
export function grep(tree: Tree, options: GrepOptions): Promise<Grepped> {
  return explained('search', options.path, async () => {
    const pattern = compilePattern(options.pattern, options);
    const search = new Search(options, pattern);
    const pace = new Pace(options.signal, walkMs);
    try {
      for await (const candidate of candidates(tree, search.candidateOptions())) {
        await pace.step();
        if (candidate !== undefined) await search.add(candidate);
        if (pace.isOver) search.skip();
        if (search.truncated || pace.isOver) break;
      }
      return await search.finish();
    } finally {
      search.close();
    }
  });
}

class Search {
  /** True when the search looks no further. */
  truncated = false;
  readonly #options: GrepOptions;
  readonly #pattern: CompiledPattern;
  readonly #matcher: Matcher;
  readonly #found: GrepMatch[] = [];
  #skippedSome = false;
  #program: Pick<Grepped, 'program'> = {};
  #characters = 0;
  #matchMs = 0;
  #batch: { path: string; content: Uint8Array<ArrayBuffer> }[] = [];
  #batchedBytes = 0;

  constructor(options: GrepOptions, pattern: CompiledPattern) {
    this.#options = options;
    this.#pattern = pattern;
    this.#matcher = new Matcher(options.matchTimeoutMs);
  }

  candidateOptions(): CandidateOptions {
    const pattern = ripgrepPattern(this.#pattern);
    return {
      ...this.#options,
      launcher: pattern === undefined ? undefined : this.#options.launcher,
      lines: { pattern, ignoreCase: this.#pattern.flags.includes('i') },
      onPartial: () => this.skip(),
      onRipgrep: () => {
        this.#program = { program: 'rg' };
      },
    };
  }

  /** Marks the result as incomplete. */
  skip(): void {
    this.#skippedSome = true;
  }

  async add(candidate: Candidate): Promise<void> {
    const content = await readCandidate(candidate, this.#options.signal);
    if (content === undefined) return;
    this.#skippedSome ||= content.length >= maxFileBytes;
    this.#batch.push({ path: candidate.path, content });
    this.#batchedBytes += content.length;
    if (this.#batchedBytes >= batchBytes || this.#batch.length >= batchFiles) await this.#matchBatch();
  }

  async finish(): Promise<Grepped> {
    if (!this.truncated) await this.#matchBatch();
    this.#found.sort((a, b) => compareNames(a.path, b.path) || a.line - b.line);
    return { matches: this.#found, truncated: this.truncated || this.#skippedSome, ...this.#program };
  }

  close(): void {
    this.#matcher.close();
  }

  async #matchBatch(): Promise<void> {
    const batch = this.#batch;
    if (batch.length === 0) return;
    this.#batch = [];
    this.#batchedBytes = 0;
    const { limit, context, pattern, signal } = this.#options;
    const request = {
      ...this.#pattern,
      context,
      // One more than wanted tells whether there is more.
      limit: limit - this.#found.length + 1,
      contents: batch.map(({ content }) => content),
    };
    const startedAt = performance.now();
    const { matches, isFull } = await this.#matcher.match(request, pattern, signal);
    this.#matchMs += performance.now() - startedAt;
    for (const [index, list] of matches.entries()) {
      for (const match of list) this.#take(batch[index]?.path ?? '', match);
    }
    if (isFull || this.#matchMs > maxMatchMs) this.truncated = true;
  }

  #take(path: string, { line, text, before, after }: LineMatch): void {
    const characters = [text, ...before, ...after].reduce((total, part) => total + part.length, 0);
    if (this.#found.length >= this.#options.limit || this.#characters + characters > maxResultCharacters) {
      this.truncated = true;
    }
    if (this.truncated) return;
    this.#characters += characters;
    const around = this.#options.context === 0 ? {} : { before: [...before], after: [...after] };
    this.#found.push({ path, line, text, ...around });
  }
}

/** Undefined for a file that vanished or that we may not read: the search continues without it. */
async function readCandidate(
  candidate: Candidate,
  signal: AbortSignal | undefined,
): Promise<Uint8Array<ArrayBuffer> | undefined> {
  let fd: number | undefined;
  try {
    const opened = candidate.open();
    fd = opened.fd;
    return await readOwned(fd, opened.stats.size, maxFileBytes, signal);
  } catch (error) {
    if (errnoOf(error) === undefined) throw error;
    return undefined;
  } finally {
    if (fd !== undefined) closeFile(fd);
  }
}
