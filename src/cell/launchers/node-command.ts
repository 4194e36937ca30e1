import { basename, dirname, join } from 'node:path';

/**
 * Words that start Node the way this process started. In a container that is the loader beside the libraries, with
 * the Node binary above them as argument.
 */
export function nodeCommand(program: string = process.execPath): string[] {
  if (!/^ld.*\.so\.\d$/.test(basename(program))) return [program];
  const libraries = dirname(program);
  return [program, '--inhibit-cache', '--library-path', libraries, join(libraries, '..', 'node')];
}
