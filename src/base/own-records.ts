/** Small records that this user keeps, each in a file of its own, so that two programs can write at once. */
import { createHash, randomBytes } from 'node:crypto';
import { readdirSync, readFileSync, renameSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { z } from 'zod';
import { openOwnDirectory } from './own-directory.js';
import { readTrusted } from './trusted-path.js';

/** A damaged record counts as none. */
export class OwnRecords<Schema extends z.ZodType> {
  readonly #directory: string;
  readonly #schema: Schema;

  constructor(directory: string, schema: Schema) {
    this.#directory = directory;
    this.#schema = schema;
  }

  get(key: string): z.output<Schema> | undefined {
    return this.#parse(() => readTrusted(join(this.#directory, nameOf(key)), { follow: false }).text);
  }

  put(key: string, record: z.output<Schema>): void {
    const { base } = openOwnDirectory(this.#directory);
    // Another number may be that of a writer which died.
    const draft = join(base, `.${nameOf(key)}-${randomBytes(6).toString('hex')}`);
    writeFileSync(draft, `${JSON.stringify(record)}\n`, { mode: 0o600, flag: 'wx' });
    renameSync(draft, join(base, nameOf(key)));
  }

  /** False when there was none. */
  remove(key: string): boolean {
    try {
      unlinkSync(join(openOwnDirectory(this.#directory).base, nameOf(key)));
      return true;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
      throw error;
    }
  }

  list(): z.output<Schema>[] {
    const { base } = openOwnDirectory(this.#directory);
    return readdirSync(base)
      .filter((name) => /^[0-9a-f]{64}$/.test(name))
      .flatMap((name) => this.#parse(() => readFileSync(join(base, name), 'utf8')) ?? []);
  }

  #parse(read: () => string): z.output<Schema> | undefined {
    try {
      return this.#schema.parse(JSON.parse(read()));
    } catch {
      return undefined;
    }
  }
}

function nameOf(key: string): string {
  return createHash('sha256').update(key).digest('hex');
}
