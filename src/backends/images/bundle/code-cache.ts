/**
 * The compiled form of a program, kept beside it. Loading the program from source takes longer than all else that the
 * start of an executor does, and every cell would pay for it. Node checks that the two belong together.
 */
import { execFile } from 'node:child_process';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { importerName } from '../../../base/import-module.js';
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

/** Runs `program.js`, from its compiled form where that is there and fits. The bundler writes nothing but ASCII. */
export const starter = `'use strict';
const { readFileSync } = require('node:fs');
const { createRequire } = require('node:module');
const { Script } = require('node:vm');
const file = __dirname + '/program.js';
let cachedData;
try {
  cachedData = readFileSync(__dirname + '/program.cache');
} catch {}
const script = new Script(readFileSync(file, 'latin1'), { filename: file, cachedData });
globalThis[Symbol.for('${importerName}')] = (address) => import(address);
script.runInThisContext().call(exports, exports, createRequire(file), module, file, __dirname);
`;

/**
 * Serves a cell until it has done for a client what every client asks first, and keeps what was compiled by then: a
 * function that has not run is compiled by each cell that runs it. What is compiled fits only a Node with the same
 * flags, and the program may set some when it has been loaded.
 */
const maker = `require('node:v8').setFlagsFromString = () => {};
${starter}
const fs = require('node:fs');
const { socketPath } = JSON.parse(fs.readFileSync(process.argv[3], 'utf8'));
const { request } = require('node:http');
const ask = (method, path, body) =>
  new Promise((resolve) => {
    const headers = { accept: 'application/vnd.workcell.frames', 'content-type': 'application/json' };
    request({ socketPath, method, path, headers }, (answer) => answer.resume().once('close', resolve))
      .once('error', resolve)
      .end(body);
  });
const { writeSync } = fs;
fs.writeSync = () => {
  fs.writeSync = writeSync;
  void ask('GET', '/v1/info')
    .then(() => ask('POST', '/v1/actions', '{"action":"run","command":"true"}'))
    .then(() => {
      fs.writeFileSync(__dirname + '/program.cache', script.createCachedData(), { flush: true });
      process.kill(process.pid);
    });
};
`;

/** Makes the compiled form in a directory that has the program and the words that start Node there. Without it, all works. */
export async function makeCodeCache(directory: string, node: readonly string[]): Promise<void> {
  const [program = '', ...words] = node;
  const scratch = makeScratch('code-cache');
  const file = join(directory, 'maker.cjs');
  const settings = join(scratch, 'settings.json');
  const cell: CellSettings = {
    id: 'code-cache',
    socketPath: join(scratch, 's'),
    workspace: scratch,
    // As whoever runs this: nothing is started but a shell that does nothing.
    user: { uid: 0, gid: 0, home: scratch },
    env: {},
    keepAlive: true,
  };
  try {
    await writeFile(file, maker);
    await writeFile(settings, JSON.stringify(cell));
    const env = { PATH: process.env.PATH };
    await promisify(execFile)(program, [...words, file, 'cell', settings], { env, timeout: patienceMs });
  } catch {
    // A Node for another kind of machine cannot be started here.
  } finally {
    await rm(file, { force: true });
    removeTree(scratch);
  }
}
