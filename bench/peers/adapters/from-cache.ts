/** A package of the peers' own environment, which is no dependency of ours. */
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

/** `name` is a package whose entry Node finds by its rules; its types are the caller's claim. */
export async function fromCache<Module>(name: string): Promise<Module> {
  const from = process.env.WORKCELL_BENCH_PEERS ?? '';
  const file = createRequire(join(from, 'npm/package.json')).resolve(name);
  return (await import(pathToFileURL(file).href)) as Module;
}
