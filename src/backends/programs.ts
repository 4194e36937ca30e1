/** How to start the programs of this package: from the build, or from source under a loader. */
import { fileURLToPath } from 'node:url';

let root = new URL('../', import.meta.url);
let isSource = import.meta.url.endsWith('.ts');

/** Words behind `node` that run a module of this package. `module`: its path below the sources, without its ending. */
export function programWords(module: string, ending = 'js'): string[] {
  const file = fileURLToPath(new URL(module, root));
  return isSource ? ['--import', import.meta.resolve('tsx'), `${file}.ts`] : [`${file}.${ending}`];
}

/** Takes programs from a build of the same source. Tests do, since a start under a loader costs them a second each. */
export function usePrograms(build: URL): void {
  root = build;
  isSource = false;
}
