/**
 * A page that shows a picture or a PDF file, for `/view`. The page contains everything and loads nothing from
 * elsewhere.
 */
import { extname, posix } from 'node:path';
import type { Executor } from '../../../protocol/index.js';
import type { Say, Text } from '../../messages.js';
import { words } from '../openhands-words.js';
import { perform } from '../perform-action.js';
import { kindOf } from './path-kind.js';

const mediaTypes: Readonly<Record<string, string>> = {
  '.pdf': 'application/pdf',
  '.png': 'image/png',
  '.jpg': 'image/jpeg',
  '.jpeg': 'image/jpeg',
  '.gif': 'image/gif',
};

export interface Page {
  readonly status: number;
  readonly html: string;
}

export async function viewPage(executor: Executor, path: string, say: Say): Promise<Page> {
  const failure = (status: number, text: Text) => ({
    status,
    html: page(say(words('view.title')), `<p>${escapeHtml(say(text))}</p>`),
  });
  if (!path.startsWith('/')) return failure(400, words('view.relative_path'));
  const kind = await kindOf(executor, path);
  if (kind === 'missing') return failure(404, words('view.missing', { path }));
  if (kind === 'directory') return failure(400, words('view.is_directory', { path }));
  const mediaType = mediaTypes[extname(path).toLowerCase()];
  if (mediaType === undefined)
    return failure(415, words('view.unknown_type', { known: Object.keys(mediaTypes).join(', ') }));
  const { content } = await perform(executor, {
    action: 'read',
    path,
    encoding: 'base64',
    maxBytes: 67_108_864,
  });
  const name = posix.basename(path);
  const url = `data:${mediaType};base64,${content}`;
  const body =
    mediaType === 'application/pdf'
      ? `<embed type="${mediaType}" src="${url}" style="width:100%;height:100vh">`
      : `<img alt="${escapeHtml(name)}" src="${url}">`;
  return { status: 200, html: page(say(words('view.title_of', { name })), body) };
}

function page(title: string, body: string): string {
  return `<!doctype html><html><head><meta charset="utf-8"><title>${escapeHtml(title)}</title></head><body>${body}</body></html>`;
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
