import { Argument, Command, Option } from 'commander';
import type { TakenOver, WorkspaceChange } from '../../index.js';
import type { KeptChanges } from '../../runtime/checkpoints/kept-changes.js';

interface Common {
  workspace?: string;
  json?: true;
}

const diffNotes = `
Text that would act on your terminal is left out there; a pipe gets it as it is.

Examples:
  $ workcell run --overlay 'npm update && npm test'
  $ workcell diff                 what the last such command changed
  $ workcell diff --list          all that is kept for this directory
  $ workcell diff 4f1a | git apply --stat`;

const applyNotes = `
What somebody else changed in the directory meanwhile is a conflict. Then it
writes nothing and exits with 65, unless you say what to do. It leaves .git
alone. When all is taken over, the kept changes go.

Examples:
  $ workcell apply --preview      says what it would write
  $ workcell apply
  $ workcell apply --on-conflict skip`;

/** `workcell diff`: what a command with --overlay changed. */
export function diffCommand(): Command {
  return withCommon(new Command('diff').description('Show what "run --overlay" kept'))
    .option('--list', 'list all that is kept, the newest first')
    .addHelpText('after', diffNotes)
    .action(diff);
}

/** `workcell apply`: takes that over. */
export function applyCommand(): Command {
  return withCommon(new Command('apply').description('Write what "run --overlay" kept to the directory'))
    .option('--preview', 'write nothing, and say what it would write')
    .addOption(
      new Option('--on-conflict <choice>', 'what to do about conflicts')
        .choices(['stop', 'skip', 'overwrite'])
        .default('stop'),
    )
    .option('--git', 'also write what changed in .git')
    .addHelpText('after', applyNotes)
    .action(apply);
}

/** `workcell discard`: removes it. */
export function discardCommand(): Command {
  return withCommon(new Command('discard').description('Remove what "run --overlay" kept'))
    .option('--all', 'remove all that is kept for the directory')
    .action(discard);
}

function withCommon(command: Command): Command {
  return command
    .addArgument(new Argument('[id]', 'which (default: the newest)'))
    .option('-w, --workspace <directory>', 'the directory that they are for (default: this one)')
    .option('--json', 'print one line of JSON');
}

async function diff(id: string | undefined, options: Common & { list?: true }): Promise<void> {
  const { findKept, keptFor } = await import('../kept-overlays.js');
  const { workspace = process.cwd(), json } = options;
  if (options.list) {
    const kept = keptFor(workspace).map(({ id, createdAt, changes }) => ({ id, createdAt, changes }));
    if (json) return print(JSON.stringify(kept));
    const { formatTable } = await import('../text-table.js');
    process.stdout.write(
      formatTable(
        ['ID', 'CREATED', 'CHANGES'],
        kept.map(({ id, createdAt, changes }) => [id, createdAt, String(changes)]),
      ),
    );
    return;
  }
  const changes = await findKept(workspace, id).diff();
  if (json) return print(JSON.stringify(changes));
  const { plainText } = await import('../sanitize.js');
  const shown = process.stdout.isTTY ? plainText : (text: string) => text;
  for (const change of changes) process.stdout.write(shown(patchOf(change)));
}

const letters = { added: 'A', changed: 'M', removed: 'D' } as const;

/** What has no text to show is a line that patches allow between them. */
function patchOf({ patch, change, kind, path, beforeBytes, afterBytes, mode }: WorkspaceChange): string {
  const sizes = [beforeBytes, afterBytes].filter((size) => size !== undefined).join(' to ');
  const modes = mode === undefined ? '' : `, mode ${mode.before.toString(8)} to ${mode.after.toString(8)}`;
  const about = kind === 'file' ? `${sizes} bytes${modes}` : `${kind}${modes}`;
  return `${letters[change]}  ${JSON.stringify(path)}  ${about}\n${patch ?? ''}`;
}

interface ApplyOptions extends Common {
  preview?: true;
  onConflict: 'stop' | 'skip' | 'overwrite';
  git?: true;
}

async function apply(id: string | undefined, options: ApplyOptions): Promise<void> {
  const { findKept, holding } = await import('../kept-overlays.js');
  const { workspace = process.cwd(), preview, onConflict, git, json } = options;
  const taken = await holding(findKept(workspace, id), (kept) => kept.apply({ preview, onConflict, git }));
  if (json) print(JSON.stringify(taken));
  else await say(taken, preview === true);
  if (taken.conflicts.length > 0 && onConflict === 'stop') process.exitCode = conflictCode;
}

/** As for a file that changed. */
const conflictCode = 65;

async function say({ applied, changes, conflicts, leftOut }: TakenOver, isPreview: boolean): Promise<void> {
  const { plainText } = await import('../sanitize.js');
  for (const { change, path } of changes) print(`${letters[change]}  ${plainText(path)}`);
  for (const { path } of conflicts) print(`C  ${plainText(path)}`);
  const note = (text: string) => process.stderr.write(`workcell: ${text}\n`);
  for (const place of leftOut ?? []) note(`left out what changed in ${plainText(place)}`);
  if (applied) note(`applied ${changes.length} changes`);
  else if (!isPreview) note(`nothing is applied: somebody else changed ${conflicts.length} of these files`);
}

async function discard(id: string | undefined, options: Common & { all?: true }): Promise<void> {
  const { findKept, holding, keptFor } = await import('../kept-overlays.js');
  const { workspace = process.cwd() } = options;
  const going: KeptChanges[] = options.all ? keptFor(workspace) : [findKept(workspace, id)];
  for (const kept of going) await holding(kept, (held) => held.discard());
  const ids = going.map((kept) => kept.id);
  print(options.json ? JSON.stringify(ids) : ids.map((one) => `discarded ${one}`).join('\n'));
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
