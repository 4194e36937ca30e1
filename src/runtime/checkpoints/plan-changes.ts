/**
 * Plans how to bring the difference between two views into a directory that others change, too. It never overwrites
 * their changes: the plan names them as conflicts.
 */
import { closeSync, readFileSync, type Stats } from 'node:fs';
import { posix } from 'node:path';
import { applyPatch, createPatch } from 'diff';
import { compareViews, type Difference } from './compare.js';
import { textOf } from './layer-folder.js';
import { isSameEntry, openEntry } from './same-entry.js';
import { type Found, type View, ViewFolder, withEntry } from './workspace-view.js';
import type { Write } from './write-changes.js';

/** A change that the plan does not write, because somebody else changed the same entry. */
export interface Conflict {
  readonly path: string;
  /**
   * `changed`: both sides changed it. `removed`: one side removed what the other changed. `parent`: its directory no
   * longer exists.
   */
  readonly reason: 'changed' | 'removed' | 'parent';
}

export interface Plan {
  readonly writes: readonly Write[];
  readonly conflicts: readonly Conflict[];
  /** Those of the differences that conflict, for a caller who wants them all the same. */
  readonly contested: readonly Write[];
}

export interface PlanOptions {
  readonly before: View;
  readonly after: View;
  readonly target: string;
  /** Which differences are changes that the cell made. Default: all. */
  readonly isOwn?: ((difference: Difference) => boolean) | undefined;
  /** Where the target is the base itself, whose old content is lost: tells whether an entry changed since. */
  readonly since?: ((path: string, stats: Stats) => boolean) | undefined;
}

export async function planChanges(options: PlanOptions): Promise<Plan> {
  const { before, after, target, since, isOwn = () => true } = options;
  const differences = (await compareViews(before, after)).filter(isOwn);
  using was = ViewFolder.open(before);
  using is = ViewFolder.open(after);
  using now = ViewFolder.open({ base: target });
  const writes: Write[] = [];
  const contested: Write[] = [];
  const conflicts: Conflict[] = [];
  const made = new Set(differences.filter(isNewDirectory).map(({ path }) => path));
  const removed = new Set(differences.filter(({ change }) => change === 'removed').map(({ path }) => path));
  for (const difference of differences) {
    const { path } = difference;
    const verdict = await withEntry(now, path, (current) =>
      withEntry(was, path, (old) =>
        withEntry(is, path, (fresh) => judge(difference, current, old, fresh, since, removed)),
      ),
    );
    const isOrphan =
      difference.change !== 'removed' && !(await hasParent(now, path)) && !made.has(posix.dirname(path));
    if (verdict === 'skip') continue;
    if (isOrphan) conflicts.push({ path: textOf(path), reason: 'parent' });
    else if (verdict === 'write') writes.push(difference);
    else if (typeof verdict === 'object') writes.push({ ...difference, merged: verdict.merged });
    else {
      conflicts.push({ path: textOf(path), reason: verdict });
      contested.push(difference);
    }
  }
  return { writes, conflicts, contested };
}

type Verdict = 'skip' | 'write' | 'changed' | 'removed' | { readonly merged: Buffer };

async function judge(
  { change, path }: Difference,
  current: Found | undefined,
  old: Found | undefined,
  fresh: Found | undefined,
  since: PlanOptions['since'],
  removed: ReadonlySet<string>,
): Promise<Verdict> {
  if (change === 'removed') {
    if (current === undefined) return 'skip';
    if (current.stats.isDirectory()) return holdsOnly(current, path, removed) ? 'write' : 'removed';
    if (since !== undefined) return since(path, current.stats) ? 'removed' : 'write';
    return old !== undefined && (await isSameEntry(current, old)) ? 'write' : 'removed';
  }
  if (current !== undefined && fresh !== undefined && (await isSameEntry(current, fresh))) return 'skip';
  if (current === undefined) return old === undefined || since !== undefined ? 'write' : 'removed';
  // The directory exists: judge its entries one by one; only its mode may need a change.
  if (current.stats.isDirectory() && fresh?.stats.isDirectory()) return 'write';
  if (since !== undefined) return since(path, current.stats) ? 'changed' : 'write';
  if (old === undefined) return 'changed';
  if (await isSameEntry(current, old)) return 'write';
  return merge(current, old, fresh) ?? 'changed';
}

function holdsOnly({ folder, name }: Found, path: string, removed: ReadonlySet<string>): boolean {
  using directory = folder.child(name);
  return directory?.names().every((inner) => removed.has(`${path}/${inner}`)) ?? true;
}

const mergeBytes = 1_048_576;

/** Both changes in one text, where they are at different lines. */
function merge(current: Found, old: Found, fresh: Found | undefined): { merged: Buffer } | undefined {
  const texts = [current, old, fresh].map(textIn);
  const [mine, base, theirs] = texts;
  if (mine === undefined || base === undefined || theirs === undefined) return undefined;
  const patch = createPatch('file', base, theirs, '', '', { timeout: 250, maxEditLength: 5000 });
  const merged = patch === undefined ? false : applyPatch(mine, patch, { fuzzFactor: 0 });
  return merged === false ? undefined : { merged: Buffer.from(merged) };
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

/** The content of a regular file that is not too large. */
export function readSmall(found: Found, limitBytes: number): Buffer | undefined {
  if (!found.stats.isFile() || found.stats.size > limitBytes) return undefined;
  const descriptor = openEntry(found);
  try {
    return readFileSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

function isNewDirectory({ change, after }: Difference): boolean {
  return change === 'added' && after?.kind === 'directory';
}

async function hasParent(root: ViewFolder, path: string): Promise<boolean> {
  const parent = posix.dirname(path);
  return parent === '.' || withEntry(root, parent, (found) => found?.stats.isDirectory() === true);
}
