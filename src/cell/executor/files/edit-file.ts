import { constants, fstatSync, type Stats } from 'node:fs';
import { inTurns, Pace, type Steps } from '../../../base/pace.js';
import { type Action, type EditStep, type Observation, WorkcellError } from '../../../protocol/index.js';
import { readLong } from './bytes.js';
import type { OpenFile } from './directory.js';
import { changeShown } from './edit-diff.js';
import { tooLarge } from './edit-errors.js';
import { digestOf, type EditHistory } from './edit-history.js';
import { editText, maxEditedBytes } from './edit-text.js';
import { explained, problem, quote } from './file-errors.js';
import type { Tree } from './file-tree.js';
import { closeFile } from './free-space.js';
import { detectEncoding, type TextEncoding, textDecoded, textEncoded } from './text-encoding.js';
import { isSame, replaceUnchanged } from './write-file.js';

/** A file that changes during each of so many attempts stays as it is. */
const mostAttempts = 3;

/**
 * Changes a text file, or undoes the last change. Others have their turn between the read and the write, so it starts
 * again when one of them changed the file.
 */
export function editFile(
  tree: Tree,
  history: EditHistory,
  action: Action<'edit'>,
  signal?: AbortSignal,
): Promise<Observation<'edit'>> {
  const { path } = action;
  return explained('edit', path, async () => {
    const steps = stepsOf(action);
    return history.inOrder(async () => {
      const pace = new Pace(signal);
      for (let attempt = 0; attempt < mostAttempts; attempt++) {
        const file = await load(tree, path, pace, signal);
        if (file === undefined) continue;
        const edit = await inTurns(
          steps === 'undo' ? undo(history, file) : apply(history, file, steps),
          pace,
        );
        const name = tree.space.fromWorkspace(file.path);
        const shown = await inTurns(changeShown(name, file.text, edit.text), pace);
        if (!(await replaceUnchanged(tree, path, edit.data, file.stats))) continue;
        edit.written();
        return { observation: 'edit', path: file.path, ...shown, changes: edit.changes };
      }
      throw problem(
        'file-changed',
        `${quote(path)} was changed by something else during each of ${mostAttempts} attempts to edit it. Try again.`,
        path,
      );
    });
  });
}

interface TextFile {
  /** As seen from inside. */
  readonly path: string;
  /** One for each file, whichever links led to it. */
  readonly key: string;
  readonly stats: Stats;
  readonly data: Buffer;
  readonly text: string;
  readonly encoding: TextEncoding;
}

interface Edit {
  readonly text: string;
  readonly data: Buffer;
  readonly changes: number;
  /** Call when the file has the data. */
  written(): void;
}

/** The requested edit: exactly one of the forms. */
function stepsOf(action: Action<'edit'>): readonly EditStep[] | 'undo' {
  const { oldText, insertLine, edits, undo: isUndo, newText, replaceAll } = action;
  const forms = [oldText, insertLine, edits, isUndo === true ? true : undefined].filter(
    (form) => form !== undefined,
  );
  const isSingle = oldText !== undefined || insertLine !== undefined;
  if (forms.length !== 1 || isSingle !== (newText !== undefined)) {
    throw new WorkcellError(
      'invalid-action',
      'An edit needs exactly one of: oldText with newText, insertLine with newText, edits, or undo.',
      { details: { path: action.path } },
    );
  }
  if (edits !== undefined) return edits;
  return isUndo === true ? 'undo' : [{ oldText, newText, replaceAll, insertLine }];
}

function* apply(history: EditHistory, file: TextFile, steps: readonly EditStep[]): Steps<Edit> {
  const { text, changes } = yield* editText(file.text, steps, file.path);
  const data = yield* textEncoded(text, file.encoding);
  if (data.length > maxEditedBytes) throw tooLarge(file.path, data.length, maxEditedBytes);
  const digest = yield* digestOf(data);
  return { text, data, changes, written: () => history.record(file.key, file.data, digest) };
}

function* undo(history: EditHistory, file: TextFile): Steps<Edit> {
  const { before, forget } = history.last(file.key, yield* digestOf(file.data));
  return { text: yield* textDecoded(before, file.encoding), data: before, changes: 1, written: forget };
}

/** Undefined when the file changed meanwhile. */
async function load(
  tree: Tree,
  path: string,
  pace: Pace,
  signal: AbortSignal | undefined,
): Promise<TextFile | undefined> {
  const { place, opened } = open(tree, path);
  const { fd, stats } = opened;
  try {
    if (stats.size > maxEditedBytes) throw tooLarge(place.path, stats.size, maxEditedBytes);
    const data = await readLong(fd, stats.size, stats.size + 1, signal);
    if (!isSame(fstatSync(fd), stats)) return undefined;
    const encoding = detectEncoding(data);
    if (encoding === undefined) throw notText(place.path);
    const text = await inTurns(textDecoded(data, encoding), pace);
    return { ...place, stats, data, text, encoding };
  } finally {
    closeFile(fd);
  }
}

function open(tree: Tree, path: string): { place: Pick<TextFile, 'path' | 'key'>; opened: OpenFile } {
  using place = tree.resolve(path, { follow: true });
  const opened = place.directory.openFile(place.name, constants.O_RDONLY);
  return { place: { path: place.path, key: place.names.join('/') }, opened };
}

function notText(path: string): WorkcellError {
  return problem(
    'not-a-file',
    `${quote(path)} is not a text file: it has NUL bytes. Write it whole as base64, or change it with a command in the shell.`,
    path,
  );
}
