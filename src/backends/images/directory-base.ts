/** A directory with a Dockerfile of the user, as the base of an image. */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { lstat, readdir, readFile, readlink } from 'node:fs/promises';
import { join, relative, resolve } from 'node:path';
import { compileGlob } from '../../base/glob.js';
import { WorkcellError } from '../../protocol/index.js';
import type { ContextFiles } from './build-context.js';

export interface DirectoryBase {
  readonly dockerfile: string;
  readonly files: ContextFiles;
  /** Of all of it. */
  readonly hash: string;
}

/** Reads what the engine needs, without what `.dockerignore` names. */
export async function readDirectoryBase(given: string): Promise<DirectoryBase> {
  const directory = resolve(given);
  const dockerfile = await readFile(join(directory, 'Dockerfile'), 'utf8').catch((cause: Error) => {
    const message = `There is no Dockerfile to read in ${directory}: ${cause.message}.`;
    throw new WorkcellError('invalid-config', message, { details: { directory }, cause });
  });
  const rules = await readFile(join(directory, '.dockerignore'), 'utf8').catch(() => '');
  const isIgnored = ignoreRules(rules);
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  const names = entries
    .filter((entry) => entry.isFile() || entry.isSymbolicLink())
    .map((entry) => relative(directory, join(entry.parentPath, entry.name)))
    .filter((name) => name !== 'Dockerfile' && !isIgnored(name))
    .sort();
  const files = new Map(names.map((name) => [name, join(directory, name)]));
  const hash = createHash('sha256').update(dockerfile);
  for (const [name, path] of files) {
    const stats = await lstat(path);
    hash.update(`\0${name}\0${stats.mode & 0o777}\0${stats.size}\0`);
    if (stats.isSymbolicLink()) hash.update(await readlink(path));
    else for await (const chunk of createReadStream(path)) hash.update(chunk as Buffer);
  }
  return { dockerfile, files, hash: hash.digest('hex').slice(0, 16) };
}

/**
 * As the engine's own client reads them: from the top of the directory, the last rule that fits decides. A rule that we
 * would read otherwise than that client is refused, because it may be what keeps a secret out of the image.
 */
function ignoreRules(text: string): (name: string) => boolean {
  const rules = text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => {
      if (/[[\\]/.test(line))
        throw new WorkcellError(
          'invalid-config',
          `.dockerignore has the rule ${JSON.stringify(line)}. Brackets and backslashes are not read here: write the names out.`,
        );
      const isException = line.startsWith('!');
      const pattern = line.slice(isException ? 1 : 0).replace(/^(\.?\/)+|\/+$/g, '');
      return { isException, fits: compileGlob(pattern, 'path') };
    });
  return (name) => {
    const parts = name.split('/');
    const above = parts.map((_, index) => parts.slice(0, index + 1).join('/'));
    const last = rules.findLast(({ fits }) => above.some((path) => fits(path)));
    return last !== undefined && !last.isException;
  };
}
