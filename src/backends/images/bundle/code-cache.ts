/**
 * The compiled form of a program, stored beside it. Loading the program from source takes longer than everything else
 * in the start of an executor, and every cell would pay for it. Node checks that the two belong together.
 */
import { execFile } from 'node:child_process';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { programText } from '../../../base/program-text.js';
import { removeTree } from '../../../base/remove-tree.js';
import { makeScratch } from '../../../cell/launchers/scratch.js';
import type { CellSettings } from '../../../cell/server/serve-cell.js';

/** Longer than any start takes. */
const patienceMs = 60_000;

/** A program as `program.js` holds it: already the function that Node makes of a module, so that no start copies it. */
export function asFunction(script: Uint8Array): Uint8Array {
  return Buffer.concat([
    Buffer.from('(function (exports, require, module, __filename, __dirname) { '),
    script,
    Buffer.from('\n})'),
  ]);
}

/** Runs `program.js`, from its compiled form where that exists and fits. */
export const starter = () => programText('start-program.cjs', import.meta.url);

/**
 * Makes the compiled form in a directory that has the program and the words that start Node there. Everything works
 * without it.
 */
export async function makeCodeCache(directory: string, node: readonly string[]): Promise<void> {
  const [program = '', ...words] = node;
  const scratch = makeScratch('code-cache');
  const file = join(directory, 'maker.cjs');
  const settings = join(scratch, 'settings.json');
  const cell: CellSettings = {
    id: 'code-cache',
    socketPath: join(scratch, 's'),
    workspace: scratch,
    // The user does not matter: this starts nothing but a shell that does nothing.
    user: { uid: 0, gid: 0, home: scratch },
    env: {},
    keepAlive: true,
  };
  try {
    await writeFile(file, programText('make-code-cache.cjs', import.meta.url));
    await writeFile(settings, JSON.stringify(cell));
    const env = { PATH: process.env.PATH };
    await promisify(execFile)(program, [...words, file, 'cell', settings], { env, timeout: patienceMs });
  } catch {
    // This machine cannot start a Node for another architecture.
  } finally {
    await rm(file, { force: true });
    removeTree(scratch);
  }
}
