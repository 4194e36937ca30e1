/**
 * Plans how to bring the difference between two views into a directory that others change, too. It never overwrites
 * their changes: the plan names them as conflicts.
 */
import { closeSync, readFileSync, type Stats } from 'node:fs';
import { posix } from 'node:path';
import { Pace } from '../../base/pace.js';
import { compareViews, type Difference } from './compare.js';
import { isRefusal, textOf } from './layer-folder.js';
import { mergeTexts } from './merge-texts.js';
import { isSameContent, isSameEntry, openEntry } from './same-entry.js';
import { type Found, type View, ViewFolder, withEntry } from './workspace-view.js';
import { stateOf, type Write } from './write-changes.js';

/** A change that the plan does not write, because somebody else changed the same entry. */
export interface Conflict {
  readonly path: string;
  /**
   * `changed`: both sides changed it. `removed`: one side removed what the other changed. `parent`: its directory does
   * not exist there.
   */
  readonly reason: 'changed' | 'removed' | 'parent';
}

export interface Plan {
  /** In the order to write them in. */
  readonly writes: readonly Write[];
  readonly conflicts: readonly Conflict[];
}

export interface PlanOptions {
  readonly before: View;
  readonly after: View;
  readonly target: string;
  /** Which differences are changes that the cell made. Default: all. */
  readonly isOwn?: ((difference: Difference) => boolean) | undefined;
  /**
   * Where the target is the base itself, whose old content is lost: tells whether an entry changed since. Without `stats`:
   * whether an entry that is not there now was there.
   */
  readonly since?: ((path: string, stats: Stats | undefined) => boolean) | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Also plans what conflicts, except in place of a directory that holds something of others. */
  readonly overwrite?: boolean | undefined;
}

export async function planChanges(options: PlanOptions): Promise<Plan> {
  const { before, after, target, signal, isOwn = () => true } = options;
  const differences = (await compareViews(before, after, { signal })).filter(isOwn);
  using was = ViewFolder.open(before);
  using is = ViewFolder.open(after);
  using now = ViewFolder.open({ base: target });
  const planner = new Planner(options, now);
  const pace = new Pace(signal);
  const verdicts = new Map<Difference, Judged>();
  const judgeAll = async (some: readonly Difference[]) => {
    for (const difference of some) {
      const { path } = difference;
      await pace.step();
      const judged = await withEntry(now, path, (current) =>
        withEntry(was, path, (old) =>
          withEntry(is, path, (fresh) => planner.judge(difference, current, old, fresh)),
        ),
      );
      verdicts.set(difference, judged);
    }
  };
  // From the inside out: a directory can go when all that is in it goes.
  await judgeAll(differences.filter(({ change }) => change === 'removed').reverse());
  await judgeAll(differences.filter(({ change }) => change !== 'removed'));
  const judged = differences.map((difference) => verdicts.get(difference) as Judged);
  return {
    writes: judged.flatMap(({ write }) => write ?? []),
    conflicts: judged.flatMap(({ conflict }) => conflict ?? []),
  };
}

interface Judged {
  readonly write?: Write | undefined;
  readonly conflict?: Conflict | undefined;
}

interface Merged {
  readonly mode: number;
  /** Default: that of the view. */
  readonly content?: Buffer | undefined;
}

type Verdict = 'skip' | 'write' | Conflict['reason'] | Merged;

class Planner {
  readonly #options: PlanOptions;
  readonly #now: ViewFolder;
  readonly #pace = new Pace(undefined);
  /** What the plan removes. */
  readonly #gone = new Set<string>();
  /** The directories that it makes. */
  readonly #made = new Set<string>();

  constructor(options: PlanOptions, now: ViewFolder) {
    this.#options = options;
    this.#now = now;
  }

  async judge(
    difference: Difference,
    current: Found | undefined,
    old: Found | undefined,
    fresh: Found | undefined,
  ): Promise<Judged> {
    const { path, change, after } = difference;
    const isRemoval = change === 'removed';
    const verdict = isRemoval
      ? await this.#removal(path, current, old)
      : await this.#addition(path, current, old, fresh);
    if (verdict === 'skip') return {};
    const isConflict = typeof verdict === 'string' && verdict !== 'write';
    const conflict = isConflict ? { path: textOf(path), reason: verdict } : undefined;
    if (isConflict && !(this.#options.overwrite && (await this.#canOverwrite(path, current, fresh))))
      return { conflict };
    if (isRemoval) this.#gone.add(path);
    else if (after?.kind === 'directory') this.#made.add(path);
    const expected = stateOf(current?.stats);
    const write = { ...difference, expected, makesParents: verdict === 'parent' };
    if (typeof verdict === 'string' || after === undefined) return { write, conflict };
    return { write: { ...write, merged: verdict.content, after: { ...after, mode: verdict.mode } } };
  }

  async #removal(path: string, current: Found | undefined, old: Found | undefined): Promise<Verdict> {
    const { since } = this.#options;
    if (current === undefined) return 'skip';
    if (current.stats.isDirectory()) return (await this.#empties(path, current)) ? 'write' : 'removed';
    if (since !== undefined) return since(path, current.stats) ? 'removed' : 'write';
    return old !== undefined && (await isSameEntry(current, old)) ? 'write' : 'removed';
  }

  async #addition(
    path: string,
    current: Found | undefined,
    old: Found | undefined,
    fresh: Found | undefined,
  ): Promise<Verdict> {
    const { since } = this.#options;
    if (this.#gone.has(path)) return 'write';
    if (current !== undefined && fresh !== undefined && (await isSameEntry(current, fresh))) return 'skip';
    if (!(await this.#hasParent(path))) return 'parent';
    if (current === undefined) {
      const wasThere = since === undefined ? old !== undefined : since(path, undefined);
      return wasThere ? 'removed' : 'write';
    }
    // Where both have the directory, judge its entries one by one; only its mode may need a change.
    if (current.stats.isDirectory()) return fresh?.stats.isDirectory() ? 'write' : 'changed';
    if (since !== undefined) return since(path, current.stats) ? 'changed' : 'write';
    if (old === undefined) return 'changed';
    if (await isSameEntry(current, old)) return 'write';
    return (await merge(current, old, fresh)) ?? 'changed';
  }

  /** A directory that stays cannot give way to something else. */
  async #canOverwrite(path: string, current: Found | undefined, fresh: Found | undefined): Promise<boolean> {
    if (!current?.stats.isDirectory() || fresh?.stats.isDirectory()) return true;
    return this.#empties(path, current);
  }

  async #empties(path: string, { folder, name }: Found): Promise<boolean> {
    using directory = folder.child(name);
    for await (const inner of directory?.names(this.#pace) ?? [])
      if (!this.#gone.has(`${path}/${inner}`)) return false;
    return true;
  }

  async #hasParent(path: string): Promise<boolean> {
    const parent = posix.dirname(path);
    if (parent === '.' || this.#made.has(parent)) return true;
    return withEntry(this.#now, parent, (found) => found?.stats.isDirectory() === true);
  }
}

const mergeBytes = 1_048_576;

/** Both changes in one file: of its mode, and of its content where they are at different lines. */
async function merge(current: Found, old: Found, fresh: Found | undefined): Promise<Merged | undefined> {
  if (fresh === undefined || [current, old, fresh].some(({ stats }) => !stats.isFile())) return undefined;
  const [own, was, other] = [current, old, fresh].map(({ stats }) => stats.mode & 0o7777);
  const mode = own === was || own === other ? other : other === was ? own : undefined;
  if (mode === undefined) return undefined;
  if ((await isSameContent(current, old)) || (await isSameContent(current, fresh))) return { mode };
  if (await isSameContent(fresh, old)) {
    const content = readSmall(current, mergeBytes);
    return content && { mode, content };
  }
  const [mine, base, theirs] = [current, old, fresh].map(textIn);
  if (mine === undefined || base === undefined || theirs === undefined) return undefined;
  const merged = mergeTexts(base, mine, theirs);
  return merged === undefined ? undefined : { mode, content: Buffer.from(merged) };
}

function textIn(found: Found | undefined): string | undefined {
  const bytes = found === undefined ? undefined : readSmall(found, mergeBytes);
  return bytes === undefined ? undefined : textFrom(bytes);
}

/** Undefined for what is no text. */
export function textFrom(bytes: Buffer): string | undefined {
  const text = bytes.toString('utf8');
  return bytes.includes(0) || !Buffer.from(text).equals(bytes) ? undefined : text;
}

/** The content of a regular file that is not too large and that this user may read. */
export function readSmall(found: Found, limitBytes: number): Buffer | undefined {
  if (!found.stats.isFile() || found.stats.size > limitBytes) return undefined;
  let descriptor: number;
  try {
    descriptor = openEntry(found);
  } catch (error) {
    if (isRefusal(error)) return undefined;
    throw error;
  }
  try {
    return readFileSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
