import { basename, dirname, join } from 'node:path';

/**
 * Words that start Node as this process was started. In a container that is the loader beside the libraries, given
 * the Node binary above them.
 */
export function nodeCommand(program: string = process.execPath): string[] {
  if (!/^ld.*\.so\.\d$/.test(basename(program))) return [program];
  const libraries = dirname(program);
  return [program, '--inhibit-cache', '--library-path', libraries, join(libraries, '..', 'node')];
}
