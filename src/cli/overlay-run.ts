/** What `workcell run --overlay` does when the command has ended: says what it changed, and takes that over or keeps it. */
import type { Runtime, WorkspaceChange } from '../index.js';
import { plainText } from './sanitize.js';

const letters = { added: 'A', changed: 'M', removed: 'D' } as const;
const mostLines = 50;

/** Returns the exit code for a take-over that met conflicts. */
export async function finishOverlay(
  runtime: Runtime,
  directory: string,
  { apply, succeeded }: { apply: boolean; succeeded: boolean },
): Promise<number | undefined> {
  const say = (text: string) => process.stderr.write(`workcell: ${text}\n`);
  const changes = await runtime.diff();
  if (changes.length === 0) {
    say(`the command changed nothing in ${directory}`);
    return undefined;
  }
  list(changes);
  if (!apply || !succeeded) {
    const reason = apply ? 'the command failed, so nothing is applied' : `${directory} is untouched`;
    await keep(runtime, directory, `${reason}, and these ${changes.length} changes`, say);
    return undefined;
  }
  const { applied, changes: taken, conflicts, leftOut = [] } = await runtime.apply(directory);
  for (const { path } of conflicts.slice(0, mostLines)) process.stderr.write(`C  ${plainText(path)}\n`);
  if (applied) say(`applied ${taken.length} changes to ${directory}`);
  else say('nothing is applied');
  if (conflicts.length > 0) say(`somebody else changed ${conflicts.length} of these files meanwhile`);
  for (const place of leftOut) say(`left out what it changed in ${plainText(place)}`);
  if (conflicts.length > 0 || leftOut.length > 0)
    await keep(runtime, directory, applied ? 'the other changes' : `these ${changes.length} changes`, say);
  return conflicts.length > 0 ? conflictCode : undefined;
}

async function keep(
  runtime: Runtime,
  directory: string,
  what: string,
  say: (text: string) => void,
): Promise<void> {
  const { keepOverlay } = await import('./kept-overlays.js');
  const id = await keepOverlay(runtime, directory);
  if (id === undefined) say(`${what} are gone: the directory holds the one that would keep them`);
  else
    say(
      `${what} are kept as ${id}: "workcell diff" shows, "workcell apply" takes over and "workcell discard" removes them`,
    );
}

/** As for a file that changed. */
const conflictCode = 65;

function list(changes: readonly WorkspaceChange[]): void {
  const lines = changes
    .slice(0, mostLines)
    .map(({ change, path }) => `${letters[change]}  ${plainText(path)}`);
  const more = changes.length - lines.length;
  if (more > 0) lines.push(`… ${more} more`);
  process.stderr.write(`${lines.join('\n')}\n`);
}
