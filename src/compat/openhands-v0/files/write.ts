/** `write`: a file whole, or lines of one that exists. */
import type { Executor } from '../../../protocol/index.js';
import { errorObservation, type ObservationEvent, writeObservation } from '../observations.js';
import { words } from '../openhands-words.js';
import type { Arguments } from '../parse-action-event.js';
import { failureOf } from './file-failures.js';
import { hasCode } from './path-kind.js';
import { linesOf, loadText, storeText, type TextFile } from './text-file.js';

const maxBytes = 67_108_864;
const newFileMode = 0o664;

/** `path` is absolute; `cwd` is for messages. Every line of the content gets a line end, the last one included. */
export async function writeFile(
  executor: Executor,
  path: string,
  { content, start, end }: Pick<Arguments<'write'>, 'content' | 'start' | 'end'>,
  cwd: string,
): Promise<ObservationEvent> {
  try {
    const lines = content.split('\n').map((line) => `${line}\n`);
    const existing = await loadExisting(executor, path);
    if (existing === 'undecodable') return errorObservation(words('read.undecodable', { path }));
    const old = linesOf(existing?.text ?? '');
    const text = [...old.slice(0, start), ...lines, ...(end === -1 ? [] : old.slice(end))].join('');
    const encoding = existing?.encoding ?? 'utf8';
    await storeText(executor, path, { text, encoding }, existing === undefined ? newFileMode : undefined);
    return writeObservation(path);
  } catch (error) {
    return errorObservation(failureOf(error, path, cwd));
  }
}

async function loadExisting(executor: Executor, path: string): Promise<TextFile | 'undecodable' | undefined> {
  try {
    const file = await loadText(executor, path, maxBytes);
    return file === undefined || file.encoding === 'latin1' ? 'undecodable' : file;
  } catch (error) {
    if (hasCode(error, 'not-found')) return undefined;
    throw error;
  }
}
