/** The editor behind `edit` actions and `read` actions with the source `oh_aci`. */
import { extname, posix } from 'node:path';
import { inTurns, type Steps } from '../../../base/pace.js';
import { type Executor, WorkcellError } from '../../../protocol/index.js';
import { failureText } from '../../failure-messages.js';
import type { Text } from '../../messages.js';
import { hasCode, kindOf } from '../files/path-kind.js';
import { loadText, storeText, type TextFile } from '../files/text-file.js';
import { words } from '../openhands-words.js';
import type { Arguments } from '../parse-action-event.js';
import { type Change, insertLines, replaceOnce } from './change.js';
import { unifiedDiff } from './diff.js';
import { EditorError, invalidParameter } from './editor-error.js';
import type { History } from './history.js';
import { describeMistakes, newMistakes } from './lint.js';
import { snippet } from './show.js';
import { viewDirectory, viewText } from './view.js';

export type EditorRequest = Pick<
  Arguments<'edit'>,
  'path' | 'command' | 'file_text' | 'old_str' | 'new_str' | 'insert_line' | 'view_range'
>;

export interface EditorResult {
  readonly content: Text;
  /** Of the whole file; empty when it did not change. */
  readonly diff: string;
}

const maxBytes = 10 * 1024 * 1024;
const documents = ['.docx', '.xlsx', '.pptx', '.pdf', '.mp3', '.wav', '.m4a', '.flac'];
const commands = ['view', 'create', 'str_replace', 'insert', 'undo_edit'];

export class Editor {
  readonly #executor: Executor;
  readonly #workingDirectory: string;
  readonly #history: History;
  readonly #lints: boolean;

  constructor(
    executor: Executor,
    { workingDirectory, lints }: { workingDirectory: string; lints: boolean },
    history: History,
  ) {
    this.#executor = executor;
    this.#workingDirectory = workingDirectory;
    this.#history = history;
    this.#lints = lints;
  }

  /** A command that fails says so in its content. */
  async execute(request: EditorRequest): Promise<EditorResult> {
    try {
      return await this.#execute(request);
    } catch (error) {
      if (!(error instanceof EditorError || WorkcellError.isInstance(error))) throw error;
      const { path } = request;
      const reason = hasCode(error, 'file-too-large') ? words('edit.too_large', { path }) : reasonOf(error);
      return { content: words('edit.failed', { reason }), diff: '' };
    }
  }

  async #execute(request: EditorRequest): Promise<EditorResult> {
    const { path, command } = request;
    const isDirectory = await this.#check(path, command);
    if (!commands.includes(command))
      throw new EditorError(words('edit.unknown_command', { command, known: commands.join(', ') }));
    if (command === 'create') return this.#create(path, request);
    if (isDirectory)
      return { content: await viewDirectory(this.#executor, path, request.view_range), diff: '' };
    const file = await this.#load(path, command);
    if (command === 'view')
      return { content: await inTurns(viewText(path, file.text, request.view_range)), diff: '' };
    if (command === 'undo_edit') return this.#undo(path, file);
    const change = command === 'insert' ? inserted(request, file) : replaced(request, file);
    return this.#change(path, file, await inTurns(change));
  }

  /** The checks that all commands share, in the order in which clients know them. Tells a directory. */
  async #check(path: string, command: string): Promise<boolean> {
    if (!path.startsWith('/')) {
      const suggestion = posix.join(this.#workingDirectory, path);
      const exists = (await kindOf(this.#executor, suggestion)) !== 'missing';
      throw new EditorError(
        exists
          ? words('edit.relative_path_near', { path, suggestion })
          : words('edit.relative_path', { path }),
      );
    }
    const kind = await kindOf(this.#executor, path);
    if (command === 'create' && kind !== 'missing') throw new EditorError(words('edit.exists', { path }));
    if (command !== 'create' && kind === 'missing') throw new EditorError(words('edit.missing', { path }));
    if (kind === 'directory' && command !== 'view')
      throw new EditorError(words('edit.is_directory', { path }));
    return kind === 'directory';
  }

  async #load(path: string, command: string): Promise<TextFile> {
    const isDocument = documents.includes(extname(path).toLowerCase());
    if (isDocument && command !== 'view') throw new EditorError(words('edit.is_document', { path }));
    const file = await loadText(this.#executor, path, maxBytes);
    if (isDocument) throw new EditorError(words('edit.document_view', { path }));
    if (file === undefined) throw new EditorError(words('edit.is_binary', { path }));
    return file;
  }

  async #create(path: string, { file_text: text }: EditorRequest): Promise<EditorResult> {
    if (text === null) throw new EditorError(missing('file_text', 'create'));
    if ((await kindOf(this.#executor, posix.dirname(path))) !== 'directory')
      throw new EditorError(words('edit.parent_missing', { path }));
    await storeText(this.#executor, path, { text, encoding: 'utf8' });
    this.#history.push(path, text);
    const mistakes = await this.#mistakes(path, '', text);
    const diff = await inTurns(unifiedDiff(path, '', text));
    return { content: [words('edit.created', { path }), ...mistakes], diff };
  }

  async #change(path: string, file: TextFile, change: Change): Promise<EditorResult> {
    await storeText(this.#executor, path, { text: change.text, encoding: file.encoding });
    this.#history.push(path, file.text);
    const shown = await inTurns(snippet(path, change.text, change.line, change.lineCount));
    return {
      content: [
        words('edit.edited', { path, shown }),
        ...(await this.#mistakes(path, file.text, change.text)),
      ],
      diff: await inTurns(unifiedDiff(path, file.text, change.text)),
    };
  }

  async #mistakes(path: string, before: string, after: string): Promise<Text[]> {
    return this.#lints ? describeMistakes(await newMistakes(this.#executor, path, before, after)) : [];
  }

  async #undo(path: string, file: TextFile): Promise<EditorResult> {
    const text = this.#history.pop(path);
    if (text === undefined) throw new EditorError(words('edit.no_history', { path }));
    await storeText(this.#executor, path, { text, encoding: file.encoding });
    const shown = await inTurns(viewText(path, text, undefined));
    const diff = await inTurns(unifiedDiff(path, file.text, text));
    return { content: words('edit.undone', { path, shown }), diff };
  }
}

function reasonOf(error: EditorError | WorkcellError): Text {
  return error instanceof EditorError ? error.text : failureText(error);
}

function missing(parameter: string, command: string): Text {
  return words('edit.missing_parameter', { parameter, command });
}

function replaced(
  { path, old_str: oldText, new_str: newText }: EditorRequest,
  file: TextFile,
): Steps<Change> {
  if (oldText === null) throw new EditorError(missing('old_str', 'str_replace'));
  return replaceOnce(file.text, oldText, newText ?? '', path);
}

function inserted({ insert_line: line, new_str: newText }: EditorRequest, file: TextFile): Steps<Change> {
  if (line === undefined || line === null) throw new EditorError(missing('insert_line', 'insert'));
  if (newText === null) throw new EditorError(missing('new_str', 'insert'));
  const number = typeof line === 'string' && /^\s*[+-]?\d+\s*$/.test(line) ? Number(line) : line;
  if (typeof number !== 'number' || !Number.isInteger(number))
    throw invalidParameter('insert_line', line, words('edit.not_an_integer'));
  return insertLines(file.text, number, newText);
}
