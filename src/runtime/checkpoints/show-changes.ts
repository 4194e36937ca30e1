/** Differences for people and programs: paths as text, sizes, and patches of text files within bounds. */

import { Pace } from '../../base/pace.js';
import { showChange } from '../../cell/executor/files/edit-diff.js';
import type { Difference } from './compare.js';
import { textOf } from './layer-folder.js';
import { readSmall, textFrom } from './plan-changes.js';
import type { EntryKind } from './same-entry.js';
import { type Found, type View, ViewFolder, withEntry } from './workspace-view.js';

/** One file, directory or link that differs. */
export interface WorkspaceChange {
  /** Below the workspace. */
  readonly path: string;
  readonly change: 'added' | 'changed' | 'removed';
  readonly kind: EntryKind;
  /** Of a file, before and after. */
  readonly beforeBytes?: number | undefined;
  readonly afterBytes?: number | undefined;
  /** Permission bits, where they differ. */
  readonly mode?: { readonly before: number; readonly after: number } | undefined;
  /** A unified diff, for text that is not too large. */
  readonly patch?: string | undefined;
}

const fileBytes = 262_144;
const allBytes = 4_194_304;
/** How long to look for small differences in one file, and in all of them: a cell can make texts that are hard to compare. */
const fileMs = 40;
const allMs = 2000;

export async function showChanges(
  before: View,
  after: View,
  differences: readonly Difference[],
  signal?: AbortSignal,
): Promise<WorkspaceChange[]> {
  using was = ViewFolder.open(before);
  using is = ViewFolder.open(after);
  const pace = new Pace(signal);
  const shown: WorkspaceChange[] = [];
  let left = allBytes;
  const endsAt = performance.now() + allMs;
  for (const difference of differences) {
    await pace.step();
    const patch =
      left > 0
        ? await withEntry(was, difference.path, (old) =>
            withEntry(is, difference.path, (fresh) =>
              patchOf(difference, old, fresh, performance.now() < endsAt ? fileMs : 1),
            ),
          )
        : undefined;
    left -= patch?.length ?? 0;
    shown.push({ ...describe(difference), ...(patch !== undefined && { patch }) });
  }
  return shown;
}

export function describe({ path, change, before, after }: Difference): WorkspaceChange {
  const kind = (after ?? before)?.kind ?? 'file';
  const isFile = kind === 'file';
  const hasMode =
    before !== undefined && after !== undefined && before.mode !== after.mode && kind !== 'link';
  return {
    path: textOf(path),
    change,
    kind,
    ...(isFile && before !== undefined && { beforeBytes: before.sizeBytes }),
    ...(isFile && after !== undefined && { afterBytes: after.sizeBytes }),
    ...(hasMode && { mode: { before: before.mode, after: after.mode } }),
  };
}

function patchOf(
  { path, change, before, after }: Difference,
  old: Found | undefined,
  fresh: Found | undefined,
  timeoutMs: number,
): string | undefined {
  if ((before ?? after)?.kind !== 'file' || (after ?? before)?.kind !== 'file') return undefined;
  const was = change === 'added' ? '' : contentOf(old);
  const is = change === 'removed' ? '' : contentOf(fresh);
  if (was === undefined || is === undefined || was === is) return undefined;
  return showChange(textOf(path), was, is, timeoutMs).diff;
}

function contentOf(found: Found | undefined): string | undefined {
  const bytes = found === undefined ? undefined : readSmall(found, fileBytes);
  return bytes === undefined ? undefined : textFrom(bytes);
}
