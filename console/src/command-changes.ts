/** Which command was under way when a file was last changed. */
import type { FileEntry } from '../../src/protocol/actions/files.js';
import type { Entry } from './timeline.js';

export interface CommandChanges {
  readonly command: Entry;
  readonly files: readonly FileEntry[];
}

/** A file system stamps with the time of the last tick of its clock. */
const tickMs = 10;

/** The commands whose changes are the last of a file, the newest first. Those of actions on files are in the record. */
export function changesOfCommands(
  entries: readonly Entry[],
  files: readonly FileEntry[],
  now: number,
): CommandChanges[] {
  const commands = entries.filter(({ group, outcome }) => group === 'command' && outcome !== 'denied');
  const found = new Map<Entry, FileEntry[]>();
  for (const file of files) {
    if (file.type === 'directory' || /(?:^|\/)\.git\//.test(file.path)) continue;
    // Of those that ran then, the one that began last.
    const command = commands.findLast(
      ({ at, endedAt = now }) => file.modifiedAt >= at - tickMs && file.modifiedAt <= endedAt,
    );
    if (command === undefined) continue;
    const those = found.get(command);
    if (those === undefined) found.set(command, [file]);
    else those.push(file);
  }
  return [...found]
    .map(([command, changed]) => ({ command, files: changed }))
    .sort((left, right) => right.command.id - left.command.id);
}
