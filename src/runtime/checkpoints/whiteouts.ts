/** Makes the entries that hide what lower layers have: devices of number 0, all of them links to one. */
import { execFile } from 'node:child_process';
import { linkSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { hostProgram } from '../../base/find-program.js';
import type { Folder } from './layer-folder.js';

export class Whiteouts {
  readonly #directory: string;
  #source: string | undefined;
  #count = 0;

  /** `directory`: where to keep the first one; the layers are on the same file system. */
  constructor(directory: string) {
    this.#directory = directory;
  }

  async put(folder: Folder, name: string): Promise<void> {
    this.#source ??= await this.#make();
    try {
      linkSync(this.#source, folder.at(name));
    } catch (error) {
      // A file has at most some 65,000 names.
      if ((error as NodeJS.ErrnoException).code !== 'EMLINK') throw error;
      this.#source = await this.#make();
      linkSync(this.#source, folder.at(name));
    }
  }

  /** The kernel lets every user make this device; Node has no call for it. */
  async #make(): Promise<string> {
    const path = join(this.#directory, `whiteout-${this.#count++}`);
    await promisify(execFile)(hostProgram('mknod'), [path, 'c', '0', '0'], { env: {}, cwd: '/' });
    return path;
  }
}
