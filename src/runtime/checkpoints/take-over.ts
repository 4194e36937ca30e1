/** Takes changes over into a directory that others change, too: plans them, and writes them unless a conflict stops that. */
import { realpathSync } from 'node:fs';
import { resolve } from 'node:path';
import { WorkcellError } from '../../protocol/index.js';
import type { TakenOver, TakeOverOptions } from './checkpoint-types.js';
import type { Difference } from './compare.js';
import { gitDirectoryOf } from './git-directory.js';
import { textOf } from './layer-folder.js';
import { type Conflict, type PlanOptions, planChanges } from './plan-changes.js';
import { describe } from './show-changes.js';
import type { View } from './workspace-view.js';
import type { Write, Written } from './write-changes.js';

export async function takeOver(
  plan: PlanOptions,
  { preview = false, onConflict = 'stop', signal }: TakeOverOptions,
  write: (after: View, writes: readonly Write[]) => Promise<Written>,
): Promise<TakenOver & Pick<Written, 'states'>> {
  const { writes, conflicts } = await planChanges({ ...plan, overwrite: onConflict === 'overwrite', signal });
  if (preview || (conflicts.length > 0 && onConflict === 'stop'))
    return { applied: false, changes: writes.map(describe), conflicts, states: new Map() };
  const { late, states } = await write(plan.after, writes);
  const known = new Set(conflicts.map(({ path }) => path));
  const more = [...late].map(textOf).filter((path) => !known.has(path));
  return {
    applied: true,
    changes: writes.filter(({ path }) => !late.has(path)).map(describe),
    conflicts: [...conflicts, ...more.map((path): Conflict => ({ path, reason: 'changed' }))],
    states,
  };
}

/** Keeps changes out of git directories, and notes in which they were. */
export function exceptGit(isOwn: (difference: Difference) => boolean) {
  const leftOut = new Set<string>();
  const isWanted = (difference: Difference) => {
    if (!isOwn(difference)) return false;
    const place = gitDirectoryOf(difference.path);
    if (place !== undefined) leftOut.add(textOf(place));
    return place === undefined;
  };
  return { leftOut, isWanted };
}

/** A directory of this machine to write to, without links. */
export function existing(directory: string): string {
  try {
    return realpathSync(resolve(directory));
  } catch (cause) {
    throw new WorkcellError(
      'not-found',
      `There is no directory ${directory} to write the changes to. Make it first, or name another one.`,
      { details: { path: directory }, cause },
    );
  }
}
