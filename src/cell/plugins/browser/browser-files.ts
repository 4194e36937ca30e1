/** Files of the browser in the workspace, in a directory that git ignores. */
import { posix } from 'node:path';
import { WorkcellError } from '../../../protocol/index.js';
import type { PluginCell } from '../plugin.js';

/** New pictures replace older ones beyond this number. */
const mostPictures = 100;

export class BrowserFiles {
  readonly downloads: string;
  readonly #cell: PluginCell;
  readonly #root: string;
  readonly #pictures: string[] = [];
  #prepared: Promise<unknown> | undefined;
  #count = 0;

  constructor(cell: PluginCell) {
    this.#cell = cell;
    this.#root = posix.join(cell.workspace, '.browser');
    this.downloads = posix.join(this.#root, 'downloads');
  }

  prepare(): Promise<unknown> {
    this.#prepared ??= Promise.all([
      this.#cell.execute<'write'>({
        action: 'write',
        path: posix.join(this.#root, '.gitignore'),
        content: '*\n',
        encoding: 'utf8',
      }),
      this.#cell.execute<'make_dir'>({ action: 'make_dir', path: this.downloads }),
    ]);
    return this.#prepared;
  }

  /** The path of a stored picture; nothing when the workspace takes none. */
  async keepPicture(name: string, data: string): Promise<string | null> {
    const stamp = new Date().toISOString().replace(/[:.]/g, '-');
    const path = posix.join(this.#root, 'screenshots', `${name}_${stamp}_${++this.#count}.png`);
    try {
      await this.prepare();
      await this.#cell.execute<'write'>({ action: 'write', path, content: data, encoding: 'base64' });
    } catch (error) {
      if (!WorkcellError.isInstance(error)) throw error;
      return null;
    }
    this.#pictures.push(path);
    const oldest = this.#pictures.length > mostPictures ? this.#pictures.shift() : undefined;
    if (oldest !== undefined) await this.remove(oldest);
    return path;
  }

  /** Gives a download, whose file has a number as its name, its proper name. */
  async nameDownload(id: string, suggested: string): Promise<string> {
    const from = posix.join(this.downloads, id);
    const name = fileName(suggested);
    const { name: stem, ext } = posix.parse(name);
    for (let count = 0; ; count++) {
      const to = posix.join(this.downloads, count === 0 ? name : `${stem} (${count})${ext}`);
      try {
        await this.#cell.execute<'move'>({ action: 'move', from, to });
        return to;
      } catch (error) {
        if (!WorkcellError.isInstance(error) || error.code !== 'already-exists' || count > 1000) throw error;
      }
    }
  }

  async remove(path: string): Promise<void> {
    await this.#cell.execute<'remove'>({ action: 'remove', path, force: true }).catch(() => {});
  }

  /** The path, as seen from inside, of a regular file to send to a page. */
  async forUpload(given: string): Promise<string> {
    const path = posix.resolve(this.#cell.workspace, given);
    const { type } = await this.#cell.execute<'stat'>({ action: 'stat', path });
    if (type !== 'file')
      throw new WorkcellError('not-a-file', `${path} is a ${type}; only a file can be uploaded.`);
    return path;
  }
}

/** A page proposes the name, so it is only ever a name and never a path. */
export function fileName(suggested: string): string {
  const name = (suggested.split(/[/\\]/).at(-1) ?? '')
    .replace(/[\u0000-\u001f\u007f]/g, '')
    .replace(/^[.\s]+/, '')
    .trim();
  const { name: stem, ext } = posix.parse(name);
  return stem === '' ? 'download' : stem.slice(0, 100) + ext.slice(0, 20);
}
