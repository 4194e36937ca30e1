/**
 * Shows files of the cell in the browser: pictures, PDF, sound, films, pages. It serves them under a name that is on
 * no network and that nobody can guess, one for each directory, so it needs no server and no port.
 */
import { randomBytes } from 'node:crypto';
import { posix } from 'node:path';
import { WorkcellError } from '../../../protocol/index.js';
import type { PluginCell } from '../plugin.js';

/** It does not show larger files. */
const mostBytes = 67_108_864;

/** The name of a file tells that it is text; its first bytes tell every other type. */
const textTypes: Readonly<Record<string, string>> = {
  '.html': 'text/html',
  '.htm': 'text/html',
  '.css': 'text/css',
  '.js': 'text/javascript',
  '.mjs': 'text/javascript',
  '.json': 'application/json',
  '.svg': 'image/svg+xml',
  '.xml': 'text/xml',
};

interface Answer {
  readonly responseCode: number;
  readonly responseHeaders: { name: string; value: string }[];
  readonly body: string;
}

export class Viewer {
  readonly #cell: PluginCell;
  readonly #directories = new Map<string, string>();

  constructor(cell: PluginCell) {
    this.#cell = cell;
  }

  /**
   * The address under which the browser finds a file. It also leads to files beside and below it, and to no others.
   */
  async addressOf(given: string): Promise<string> {
    const path = posix.resolve(this.#cell.workspace, given);
    const { type } = await this.#cell.execute<'stat'>({ action: 'stat', path });
    if (type === 'directory')
      throw new WorkcellError('not-a-file', `${path} is a directory; name a file to look at.`);
    const directory = posix.dirname(path);
    let host = [...this.#directories].find(([, known]) => known === directory)?.[0];
    if (host === undefined) {
      host = `${randomBytes(16).toString('hex')}.viewer.localhost`;
      this.#directories.set(host, directory);
    }
    return `http://${host}/${encodeURIComponent(posix.basename(path))}`;
  }

  owns(url: string): boolean {
    const [, host = ''] = /^http:\/\/([0-9a-f]{32}\.viewer\.localhost)\//.exec(url) ?? [];
    return this.#directories.has(host);
  }

  async answer(address: string, headers: Readonly<Record<string, string>>): Promise<Answer> {
    const { host, pathname } = new URL(address);
    try {
      const directory = this.#directories.get(host) as string;
      // The browser has made the address canonical, so that only an encoded step upwards can remain in it.
      const path = posix.join(directory, decodeURIComponent(pathname));
      if (path !== directory && !path.startsWith(directory === '/' ? '/' : `${directory}/`))
        return refuse(403, 'The file lies outside of the directory that is shown.');
      return await this.#file(path, headers.Range ?? headers.range);
    } catch (error) {
      return refuse(404, error instanceof Error ? error.message : String(error));
    }
  }

  async #file(path: string, range: string | undefined): Promise<Answer> {
    const { mediaType, sizeBytes = 0 } = await this.#cell.download(path);
    const [, from, to] = /^bytes=(\d+)-(\d*)$/.exec(range ?? '') ?? [];
    const start = Math.min(Number(from ?? 0), Math.max(sizeBytes - 1, 0));
    const end = Math.min(to ? Number(to) : sizeBytes - 1, start + mostBytes - 1);
    if (from === undefined && sizeBytes > mostBytes)
      return refuse(413, `${path} has ${sizeBytes} bytes; at most ${mostBytes} can be shown.`);
    const { content } = await this.#cell.download(path, sizeBytes === 0 ? {} : { start, end });
    const pieces: Uint8Array[] = [];
    for await (const piece of content) pieces.push(piece);
    const type =
      mediaType === 'text/plain' ? (textTypes[posix.extname(path).toLowerCase()] ?? 'text/plain') : mediaType;
    const responseHeaders = [
      { name: 'content-type', value: type.startsWith('text/') ? `${type}; charset=utf-8` : type },
      { name: 'accept-ranges', value: 'bytes' },
      { name: 'x-content-type-options', value: 'nosniff' },
    ];
    if (from !== undefined)
      responseHeaders.push({ name: 'content-range', value: `bytes ${start}-${end}/${sizeBytes}` });
    return {
      responseCode: from === undefined ? 200 : 206,
      responseHeaders,
      body: Buffer.concat(pieces).toString('base64'),
    };
  }
}

function refuse(responseCode: number, message: string): Answer {
  return {
    responseCode,
    responseHeaders: [{ name: 'content-type', value: 'text/plain; charset=utf-8' }],
    body: Buffer.from(message).toString('base64'),
  };
}
