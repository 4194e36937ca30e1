/** What the editor shows of files and directories. */
import { posix } from 'node:path';
import type { Steps } from '../../../base/pace.js';
import { lineCount } from '../../../cell/executor/files/text-steps.js';
import type { Executor, FileEntry } from '../../../protocol/index.js';
import type { Text } from '../../messages.js';
import { kindOf } from '../files/path-kind.js';
import { words } from '../openhands-words.js';
import { perform } from '../perform-action.js';
import { invalidParameter } from './editor-error.js';
import { clip, linesFrom, numbered } from './show.js';

export function* viewText(path: string, text: string, range: unknown): Steps<Text> {
  if (range === undefined || range === null)
    return numbered(path, yield* linesFrom(text, 1, Number.POSITIVE_INFINITY));
  const lines = yield* lineCount(text);
  const [start, end] = checkRange(range, lines);
  const note = end > lines ? words('edit.end_clamped', { end, lines }) : '';
  const count = end === -1 ? Number.POSITIVE_INFINITY : end - start + 1;
  return [note, numbered(path, yield* linesFrom(text, start, count), start)];
}

export async function viewDirectory(executor: Executor, path: string, range: unknown): Promise<Text> {
  if (range !== undefined && range !== null)
    throw invalidParameter('view_range', range, words('edit.no_range_for_directory'));
  const { entries } = await perform(executor, { action: 'list', path, depth: 2, limit: 100_000 });
  const visible = entries.filter((entry) => !isHidden(posix.relative(path, entry.path)));
  const shown = await Promise.all(visible.map((entry) => shownPath(executor, entry)));
  const hidden = entries.filter(
    (entry) => posix.dirname(entry.path) === posix.resolve(path) && isHidden(entry.name),
  );
  const listed = [posix.join(path, '/'), ...shown.sort(byCodePoint)].join('\n');
  const listing = words('edit.directory', { path, entries: clip(listed, 'edit.directory_clipped') });
  if (hidden.length === 0) return listing;
  return [listing, words('edit.hidden_entries', { count: hidden.length, path })];
}

async function shownPath(executor: Executor, { path, type }: FileEntry): Promise<string> {
  const kind = type === 'symlink' ? await kindOf(executor, path) : type;
  return kind === 'directory' ? `${path}/` : path;
}

function checkRange(range: unknown, lines: number): [number, number] {
  const isPair = Array.isArray(range) && range.length === 2 && range.every(Number.isInteger);
  if (!isPair) throw invalidParameter('view_range', range, words('edit.not_a_range'));
  const [start, end] = range as [number, number];
  if (start < 1 || start > Math.max(lines, 1))
    throw invalidParameter('view_range', range, words('edit.range_start', { lines }));
  if (end !== -1 && end < start)
    throw invalidParameter('view_range', range, words('edit.range_end', { start }));
  return [start, end];
}

function isHidden(relative: string): boolean {
  return relative.split('/').some((name) => name.startsWith('.'));
}

function byCodePoint(left: string, right: string): number {
  return left < right ? -1 : left > right ? 1 : 0;
}
