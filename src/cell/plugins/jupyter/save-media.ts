/** Writes the media of code cells to files. */
import { posix } from 'node:path';
import type { PluginCell } from '../plugin.js';
import type { CodeOutput } from './jupyter-actions.js';

/** The file name suffix of each media type. Text that `text` shows already needs none. */
const suffixes: Partial<Record<string, string>> = {
  'image/png': 'png',
  'image/jpeg': 'jpg',
  'image/gif': 'gif',
  'image/webp': 'webp',
  'image/svg+xml': 'svg',
  'application/pdf': 'pdf',
  'application/json': 'json',
  'text/html': 'html',
  'text/latex': 'tex',
  'text/markdown': 'md',
};

/** True for media types whose value is plain text; all others are in base64. */
const isText = (mediaType: string) => mediaType.startsWith('text/') || mediaType === 'image/svg+xml';

let count = 0;

/** Adds to each output the paths of its files. */
export async function saveMedia(cell: PluginCell, directory: string, outputs: CodeOutput[]): Promise<void> {
  for (const output of outputs) {
    if (output.type !== 'result' && output.type !== 'display') continue;
    const name = `${Date.now().toString(36)}-${++count}`;
    const files: Record<string, string> = {};
    for (const [mediaType, value] of Object.entries(output.data)) {
      const suffix = suffixes[mediaType];
      if (suffix === undefined) continue;
      const path = posix.join(directory, `${name}.${suffix}`);
      await cell.execute<'write'>({ action: 'write', path, ...contentOf(mediaType, value) } as never);
      files[mediaType] = path;
    }
    if (Object.keys(files).length > 0) output.files = files;
  }
}

function contentOf(mediaType: string, value: unknown): { content: string; encoding: 'utf8' | 'base64' } {
  if (typeof value !== 'string') return { content: JSON.stringify(value), encoding: 'utf8' };
  return isText(mediaType)
    ? { content: value, encoding: 'utf8' }
    : { content: value.replace(/\s+/g, ''), encoding: 'base64' };
}
