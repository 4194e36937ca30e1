import { constants } from 'node:fs';
import { type Action, type EditStep, type Observation, WorkcellError } from '../../../protocol/index.js';
import { readWhole } from './bytes.js';
import { showChange } from './edit-diff.js';
import type { EditHistory } from './edit-history.js';
import { type Edited, editText } from './edit-text.js';
import { explained, problem, quote } from './file-errors.js';
import type { Tree } from './file-tree.js';
import { closeFile } from './free-space.js';
import { decodeText, detectEncoding, encodeText, type TextEncoding } from './text-encoding.js';
import { writeFile } from './write-file.js';

const maxBytes = 64 * 1024 * 1024;

/** Changes a text file, or undoes the last change. No other action runs between the read and the write. */
export function editFile(tree: Tree, history: EditHistory, action: Action<'edit'>): Observation<'edit'> {
  return explained('edit', action.path, () => {
    const steps = stepsOf(action);
    const file = load(tree, action.path);
    return steps === 'undo'
      ? undo(tree, history, file, action.path)
      : apply(tree, history, file, action.path, steps);
  });
}

interface TextFile {
  /** As seen from inside. */
  readonly path: string;
  /** One for each file, whichever links led to it. */
  readonly key: string;
  readonly data: Buffer;
  readonly text: string;
  readonly encoding: TextEncoding;
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

function apply(
  tree: Tree,
  history: EditHistory,
  file: TextFile,
  path: string,
  steps: readonly EditStep[],
): Observation<'edit'> {
  const edited = editText(file.text, steps, file.path);
  const data = encodeText(edited.text, file.encoding);
  if (data.length > maxBytes) throw tooLarge(file.path, data.length);
  const shown = observation(tree, file, edited);
  writeFile(tree, path, data);
  history.record(file.key, file.data, data);
  return shown;
}

function undo(tree: Tree, history: EditHistory, file: TextFile, path: string): Observation<'edit'> {
  const { before, forget } = history.last(file.key, file.data);
  const shown = observation(tree, file, { text: decodeText(before, file.encoding), changes: 1 });
  writeFile(tree, path, before);
  forget();
  return shown;
}

function observation(tree: Tree, file: TextFile, edited: Edited): Observation<'edit'> {
  const shown = showChange(tree.space.fromWorkspace(file.path), file.text, edited.text);
  return { observation: 'edit', path: file.path, ...shown, changes: edited.changes };
}

function load(tree: Tree, path: string): TextFile {
  using place = tree.resolve(path, { follow: true });
  const { fd, stats } = place.directory.openFile(place.name, constants.O_RDONLY);
  try {
    if (stats.size > maxBytes) throw tooLarge(place.path, stats.size);
    const data = readWhole(fd, stats.size, maxBytes + 1);
    if (data.length > maxBytes) throw tooLarge(place.path, data.length);
    const encoding = detectEncoding(data);
    if (encoding === undefined) throw notText(place.path);
    return { path: place.path, key: place.names.join('/'), data, text: decodeText(data, encoding), encoding };
  } finally {
    closeFile(fd);
  }
}

function notText(path: string): WorkcellError {
  return problem(
    'not-a-file',
    `${quote(path)} is not a text file: it has NUL bytes. Write it whole as base64, or change it with a command in the shell.`,
    path,
  );
}

function tooLarge(path: string, sizeBytes: number): WorkcellError {
  return new WorkcellError(
    'file-too-large',
    `${quote(path)} would have ${sizeBytes} bytes, and edits allow ${maxBytes}. Change it with a command such as sed in the shell.`,
    { details: { path, sizeBytes, limitBytes: maxBytes } },
  );
}
