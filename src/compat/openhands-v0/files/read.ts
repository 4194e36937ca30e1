/** `read` with the default source: text by lines, pictures, videos and PDF files as data URLs. */
import { extname } from 'node:path';
import { inTurns, type Steps } from '../../../base/pace.js';
import { lineCount, startOfLine } from '../../../cell/executor/files/text-steps.js';
import type { Executor } from '../../../protocol/index.js';
import { errorObservation, type ObservationEvent, readObservation } from '../observations.js';
import { words } from '../openhands-words.js';
import type { Arguments } from '../parse-action-event.js';
import { perform } from '../perform-action.js';
import { failureOf } from './file-failures.js';
import { loadText } from './text-file.js';

const maxBytes = 67_108_864;

const mediaTypes: Readonly<Record<string, string>> = {
  '.png': 'image/png',
  '.jpg': 'image/jpeg',
  '.jpeg': 'image/jpeg',
  '.bmp': 'image/bmp',
  '.gif': 'image/gif',
  '.pdf': 'application/pdf',
  '.mp4': 'video/mp4',
  '.webm': 'video/webm',
  '.ogg': 'video/ogg',
};

/** `path` is absolute; `cwd` is for messages. */
export async function readFile(
  executor: Executor,
  path: string,
  { start, end }: Pick<Arguments<'read'>, 'start' | 'end'>,
  cwd: string,
): Promise<ObservationEvent> {
  try {
    const mediaType = mediaTypes[extname(path).toLowerCase()];
    if (mediaType !== undefined) {
      const { content } = await perform(executor, { action: 'read', path, encoding: 'base64', maxBytes });
      return readObservation(path, `data:${mediaType};base64,${content}`, 'default');
    }
    const file = await loadText(executor, path, maxBytes);
    if (file === undefined) return errorObservation(words('read.binary'));
    if (file.encoding === 'latin1') return errorObservation(words('read.undecodable', { path }));
    const shown = await inTurns(window(file.text, start, end));
    return readObservation(path, shown, 'default');
  } catch (error) {
    return errorObservation(failureOf(error, path, cwd));
  }
}

/** Lines from `start`, counted from zero, up to and without `end`; -1 is the end of the file. */
function* window(text: string, start: number, end: number): Steps<string> {
  if (end === -1) return text.slice((yield* startOfLine(text, Math.max(start, 0))).position);
  const lines = yield* lineCount(text);
  const first = Math.max(0, Math.min(start, lines - 2));
  const { position: from } = yield* startOfLine(text, first);
  const { position: to } = yield* startOfLine(text, Math.max(first + 1, Math.min(end, lines)));
  return text.slice(from, to);
}
