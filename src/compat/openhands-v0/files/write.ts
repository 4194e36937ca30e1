/** `write`: a file whole, or lines of one that exists. */
import { inTurns, type Steps } from '../../../base/pace.js';
import { lineCount, startOfLine } from '../../../cell/executor/files/text-steps.js';
import type { Executor } from '../../../protocol/index.js';
import { errorObservation, type ObservationEvent, writeObservation } from '../observations.js';
import { words } from '../openhands-words.js';
import type { Arguments } from '../parse-action-event.js';
import { failureOf } from './file-failures.js';
import { hasCode } from './path-kind.js';
import { loadText, storeText, type TextFile } from './text-file.js';

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
    const existing = await loadExisting(executor, path);
    if (existing === 'undecodable') return errorObservation(words('read.undecodable', { path }));
    const replaced = replaceLines(existing?.text ?? '', `${content}\n`, start, end);
    const text = await inTurns(replaced);
    const encoding = existing?.encoding ?? 'utf8';
    await storeText(executor, path, { text, encoding }, existing === undefined ? newFileMode : undefined);
    return writeObservation(path);
  } catch (error) {
    return errorObservation(failureOf(error, path, cwd));
  }
}

/** Line numbers below zero count from the end. */
function* replaceLines(text: string, lines: string, start: number, end: number): Steps<string> {
  const count = Math.min(start, end) < 0 ? yield* lineCount(text) : 0;
  const placeOf = (line: number) => startOfLine(text, line < 0 ? Math.max(count + line, 0) : line);
  const { position: from } = yield* placeOf(start);
  const { position: to } = end === -1 ? { position: text.length } : yield* placeOf(end);
  return text.slice(0, from) + lines + text.slice(to);
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
