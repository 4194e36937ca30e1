/**
 * The compiled form of a program, kept beside it. Loading the program from source takes longer than all else that the
 * start of an executor does, and every cell would pay for it. Node checks that the two belong together.
 */
import { execFile } from 'node:child_process';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { makeScratch, removeTree } from '../../launchers/scratch.js';

/** Longer than any start takes. */
const patienceMs = 60_000;

/** Runs `program.cjs`, from its compiled form where that is there and fits. The bundler writes nothing but ASCII. */
export const starter = `'use strict';
const { readFileSync } = require('node:fs');
const { createRequire, wrap } = require('node:module');
const { constants, Script } = require('node:vm');
const file = __dirname + '/program.cjs';
let cachedData;
try {
  cachedData = readFileSync(__dirname + '/program.cache');
} catch {}
const script = new Script(wrap(readFileSync(file, 'latin1')), {
  filename: file,
  cachedData,
  importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
});
script.runInThisContext().call(exports, exports, createRequire(file), module, file, __dirname);
`;

/**
 * Starts the program once, and keeps what was compiled when it says its first word. What is compiled fits only a Node
 * with the same flags, and the program may set some when it has been loaded.
 */
const maker = `require('node:v8').setFlagsFromString = () => {};
${starter}
process.stdout.write = () => {
  require('node:fs').writeFileSync(__dirname + '/program.cache', script.createCachedData(), { flush: true });
  process.exit();
};
`;

/** Makes the compiled form in a directory that has the program and the words that start Node there. Without it, all works. */
export async function makeCodeCache(directory: string, node: readonly string[]): Promise<void> {
  const [program = '', ...words] = node;
  const scratch = makeScratch('code-cache');
  const file = join(directory, 'maker.cjs');
  try {
    await writeFile(file, maker);
    const serve = ['executor', '--listen', `unix:${join(scratch, 's')}`, '--workspace', scratch];
    await promisify(execFile)(program, [...words, file, ...serve], { env: {}, timeout: patienceMs });
  } catch {
    // A Node for another kind of machine cannot be started here.
  } finally {
    await rm(file, { force: true });
    removeTree(scratch);
  }
}
