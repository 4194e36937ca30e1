import { programText } from '../../../../base/program-text.js';
import type { PluginCell } from '../../plugin.js';

/** A program that runs the tools of one language in a cell. */
export interface HostProgram {
  readonly language: string;
  source(): string;
  readonly extension: string;
  /** What starts the file, inside. */
  interpreter(cell: PluginCell): readonly string[];
  /** What to do when it does not start. */
  readonly hint: string;
}

export const programs = {
  javascript: {
    language: 'JavaScript',
    source: () => programText('node-host.mjs', import.meta.url),
    extension: '.mjs',
    interpreter: (cell) => cell.node,
    hint: 'The cell needs a system that can run Node, which means one with glibc.',
  },
  python: {
    language: 'Python',
    source: () =>
      [
        signaturesProgram(),
        programText('python-kits.py', import.meta.url),
        programText('python-host.py', import.meta.url),
      ].join('\n\n'),
    extension: '.py',
    interpreter: () => ['python3', '-u'],
    hint: 'The cell needs Python 3.9 or later as python3.',
  },
} satisfies Record<string, HostProgram>;

/** Describes Python functions by their source; other programs follow it. */
export function signaturesProgram(): string {
  return programText('signatures.py', import.meta.url);
}
