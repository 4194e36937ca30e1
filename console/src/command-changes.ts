/** Which command was under way when a file was last changed. */
import type { FileEntry } from '../../src/protocol/actions/files.js';
import { plainPath } from './plain-path.js';
import { Spans } from './spans.js';
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
  const commands = new Spans(
    entries.filter(({ group, outcome }) => group === 'command' && outcome !== 'denied'),
    now,
  );
  const actions = actionsByPath(entries, now);
  const began = (entries[0]?.at ?? now) - tickMs;
  const found = new Map<Entry, FileEntry[]>();
  for (const file of files) {
    const { path, type, modifiedAt } = file;
    if (type === 'directory' || modifiedAt < began || /(?:^|\/)\.git\//.test(path)) continue;
    if (endings(path).some((named) => actions.get(named)?.last(modifiedAt) !== undefined)) continue;
    // Of those that ran then, the one that began last.
    const command = commands.last(modifiedAt) ?? commands.last(modifiedAt, tickMs);
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
function actionsByPath(entries: readonly Entry[], now: number): ReadonlyMap<string, Spans> {
  const those = new Map<string, Entry[]>();
  for (const entry of entries) {
    if (entry.group !== 'file' || entry.outcome !== 'ok') continue;
    for (const named of [entry.action?.path, entry.action?.to]) {
      if (typeof named !== 'string') continue;
      const path = plainPath(`/${named}`).slice(1);
      const before = those.get(path);
      if (before === undefined) those.set(path, [entry]);
      else before.push(entry);
    }
  }
  return new Map([...those].map(([path, about]) => [path, new Spans(about, now)]));
}

/** What a path ends with, in whole names. */
function endings(path: string): string[] {
  const names = plainPath(`/${path}`).slice(1).split('/');
  return names.map((_, index) => names.slice(index).join('/'));
}
