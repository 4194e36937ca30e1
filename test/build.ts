/**
 * Compiles the sources once for a run. The programs that tests start (the command line, servers, keepers) come from
 * there: a loader would otherwise compile each, and resolve its imports, at every start.
 */
import { createHash } from 'node:crypto';
import {
  cpSync,
  existsSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { bundleCommandLine } from '../scripts/bundle-command-line.js';
import { executorScript } from '../src/backends/images/bundle/script.js';

const checkout = fileURLToPath(new URL('..', import.meta.url));
const source = join(checkout, 'src');
const builds = join(checkout, '.cache', 'test-builds');
const dayMs = 24 * 60 * 60 * 1000;

export async function setup(): Promise<void> {
  const files = readdirSync(source, { recursive: true, encoding: 'utf8' })
    .filter((name) => statSync(join(source, name)).isFile())
    .sort();
  const place = join(builds, stateOf(files));
  if (!existsSync(place)) await compile(files, place);
  removeOld(place);
  process.env.TEST_BUILD_OF_WORKCELL = join(place, 'dist');
}

/** Each state of the sources leaves a build. One that nobody has used for a day is not needed again. */
function removeOld(place: string): void {
  // A test that runs as another user has the build of the first one.
  if (statSync(builds).uid !== process.getuid?.()) return;
  const now = new Date();
  utimesSync(place, now, now);
  for (const name of readdirSync(builds)) {
    const path = join(builds, name);
    const usedAt = statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
    if (now.getTime() - usedAt > dayMs) rmSync(path, { recursive: true, force: true });
  }
}

/** Changes with every written, new or removed file. */
function stateOf(files: readonly string[]): string {
  const hash = createHash('sha256');
  for (const name of [
    '../package-lock.json',
    '../scripts/bundle-command-line.ts',
    '../scripts/bundle-program.ts',
    ...files,
  ]) {
    const { size, mtimeMs } = statSync(join(source, name));
    hash.update(`${name}\0${size}\0${mtimeMs}\0`);
  }
  return hash.digest('hex').slice(0, 16);
}

async function compile(files: readonly string[], place: string): Promise<void> {
  const made = `${place}.${process.pid}`;
  const isModule = (name: string) => name.endsWith('.ts');
  await build({
    entryPoints: files.filter(isModule).map((name) => join(source, name)),
    outbase: source,
    outdir: join(made, 'dist'),
    platform: 'node',
    target: 'node20.19',
    format: 'esm',
    logLevel: 'warning',
  });
  for (const name of files.filter((name) => !isModule(name)))
    cpSync(join(source, name), join(made, 'dist', name));
  writeFileSync(join(made, 'dist/cell/main.cjs'), await executorScript());
  await bundleCommandLine(join(made, 'dist'));
  cpSync(join(checkout, 'package.json'), join(made, 'package.json'));
  try {
    renameSync(made, place);
  } catch {
    // Another run was first, with the same sources.
    rmSync(made, { recursive: true });
  }
}
