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
  const actions = entries.filter(({ group, outcome }) => group === 'file' && outcome === 'ok');
  const began = (entries[0]?.at ?? now) - tickMs;
  const found = new Map<Entry, FileEntry[]>();
  for (const file of files) {
    if (file.type === 'directory' || file.modifiedAt < began || /(?:^|\/)\.git\//.test(file.path)) continue;
    const ranThen = ({ at, endedAt = now }: Entry, slackMs = 0) =>
      file.modifiedAt >= at - slackMs && file.modifiedAt <= endedAt;
    if (actions.some((entry) => ranThen(entry) && isAbout(entry, file))) continue;
    // Of those that ran then, the one that began last.
    const command =
      commands.findLast((entry) => ranThen(entry)) ?? commands.findLast((entry) => ranThen(entry, tickMs));
    if (command === undefined) continue;
    const those = found.get(command);
    if (those === undefined) found.set(command, [file]);
    else those.push(file);
  }
  return [...found]
    .map(([command, changed]) => ({ command, files: changed }))
    .sort((left, right) => right.command.id - left.command.id);
}

/** An action names a file as it likes: from the workspace, or from the root. */
function isAbout({ action = {} }: Entry, { path }: FileEntry): boolean {
  return [action.path, action.to].some(
    (named) => typeof named === 'string' && `/${path}`.endsWith(`/${named.replace(/^(?:\.?\/)+/, '')}`),
  );
}
