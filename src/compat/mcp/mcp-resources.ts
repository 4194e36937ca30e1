/** Files of the cell as MCP resources: `file://` and the path as seen from inside. */
import type { ReadResourceResult, Resource } from '@modelcontextprotocol/sdk/types.js';
import type { Runtime } from '../../index.js';
import { WorkcellError } from '../../protocol/index.js';

const mostEntries = 500;
const mostBytes = 1024 * 1024;

export const fileTemplate = {
  uriTemplate: 'file://{+path}',
  name: 'file',
  description: 'A file of the cell, by its path as seen from inside.',
};

export async function listResources({ files, workspace }: Runtime): Promise<Resource[]> {
  const entries = await files.list(workspace);
  return entries
    .filter(({ type }) => type === 'file')
    .slice(0, mostEntries)
    .map(({ path, name, sizeBytes }) => ({ uri: toUri(path), name, size: sizeBytes }));
}

export async function readResource(runtime: Runtime, uri: string): Promise<ReadResourceResult> {
  const path = toPath(uri);
  const { content, encoding, mediaType } = await runtime.read(path, { maxBytes: mostBytes });
  return {
    contents: [
      encoding === 'base64'
        ? { uri, mimeType: mediaType, blob: content }
        : { uri, mimeType: mediaType, text: content },
    ],
  };
}

function toUri(path: string): string {
  return `file://${path.split('/').map(encodeURIComponent).join('/')}`;
}

function toPath(uri: string): string {
  try {
    const { protocol, host, pathname } = new URL(uri);
    if (protocol === 'file:' && host === '') return decodeURIComponent(pathname);
  } catch {
    // Said below.
  }
  throw new WorkcellError('not-found', `${JSON.stringify(uri)} is not the address of a file of the cell.`);
}
