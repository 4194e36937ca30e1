/** What makes CAMEL's DockerRuntime, unchanged, use our tool server: the command line, and a `python3` that starts it. */
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { WorkcellError } from '../../../protocol/index.js';
import { type ContextFiles, filesBelow } from '../build-context.js';
import { bundleMount } from '../bundle/executor-bundle.js';

/** As in python3.sh. */
const home = `${bundleMount}/camel`;

export interface CamelLayer {
  readonly files: ContextFiles;
  /** Of the files. */
  readonly hash: string;
}

/** The entry point of the base would get the command that DockerRuntime gives, so there is none. */
export const camelLines = (path: string): string[] => [
  `COPY --chown=0:0 camel ${home}/`,
  `ENV PATH=${home}/bin:${path}`,
  // It exists then, as DockerRuntime expects.
  'WORKDIR /home',
  'ENTRYPOINT []',
  'CMD ["sleep", "infinity"]',
];

export async function camelLayer(): Promise<CamelLayer> {
  if (import.meta.url.endsWith('.ts'))
    throw new WorkcellError(
      'internal',
      'This is a source checkout without a build. "npm run build" makes it.',
    );
  const root = fileURLToPath(new URL('../../../', import.meta.url));
  const files = new Map([
    ['camel/bin/python3', fileURLToPath(new URL('python3.sh', import.meta.url))],
    ['camel/package.json', join(root, '../package.json')],
    ...(await filesBelow(root.replace(/\/$/, ''), 'camel/dist')).filter(([name]) => isNeeded(name)),
  ]);
  const hash = createHash('sha256');
  for (const [name, path] of files) {
    const content = await readFile(path);
    hash.update(`${name}\n${content.length}\n`).update(content);
  }
  return { files, hash: hash.digest('hex') };
}

/** The command line is a program of its own; of the modules in it some read files beside them. */
function isNeeded(name: string): boolean {
  return !/^camel\/dist\/(console|cell\/main)|\.(js|d\.ts|map|cache)$/.test(name);
}
