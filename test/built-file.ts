import { join } from 'node:path';

/** The compiled form of a source, for a program that a test starts. `name`: its path below `src`, ending in `.js`. */
export function builtFile(name: string): string {
  const build = process.env.TEST_BUILD_OF_WORKCELL;
  if (build === undefined)
    throw new Error('There is no build: vitest makes one before it runs tests (test/build.ts).');
  return join(build, name);
}
