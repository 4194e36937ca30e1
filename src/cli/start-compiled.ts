/**
 * Starts the command line of the package: one file, and its compiled form from the user's cache. Finding, reading and
 * compiling some hundred modules would take most of the time of a short command.
 */
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { Script } from 'node:vm';
import { importerName } from '../base/import-module.js';
import { reachTrusted } from '../base/trusted-path.js';
import { cacheDirectory } from '../base/user-directories.js';

/** The bundler sets it. The name changes with the content. */
declare const bundledProgram: string;

/** One for each version of the package and of Node that is in use. */
const mostKept = 8;

/** It need not hold against anybody, and is four times as fast as the usual one. */
const digestKind = 'blake2b512';
const digestBytes = 64;

const file = join(__dirname, bundledProgram);
const compiled = join(cacheDirectory(), 'compiled', `${bundledProgram}-${process.version}-${process.arch}`);

const cachedData = readCompiled();
const script = new Script(readFileSync(file, 'latin1'), { filename: file, cachedData });
if (cachedData === undefined || script.cachedDataRejected) process.once('exit', keepCompiled);
// Node refuses `import()` to code that runs from a compiled form.
(globalThis as Record<symbol, unknown>)[Symbol.for(importerName)] = (address: string) => import(address);
const module = { exports: {} };
script
  .runInThisContext()
  .call(module.exports, module.exports, createRequire(file), module, file, dirname(file));

/**
 * We run its content, so read it only where no other user can write to it or to a directory above it. V8 crashes on a
 * damaged one, which a machine leaves that stops at the wrong moment. The digest in front of it tells.
 */
function readCompiled(): Buffer | undefined {
  try {
    using place = reachTrusted(compiled);
    const bytes = readFileSync(place.base);
    const code = bytes.subarray(digestBytes);
    return digestOf(code).equals(bytes.subarray(0, digestBytes)) ? code : undefined;
  } catch {
    return undefined;
  }
}

function digestOf(code: Uint8Array): Buffer {
  return createHash(digestKind).update(code).digest();
}

/**
 * Compile at the end, because the compiled form contains only functions that have run. Without it the next start
 * takes longer, but works.
 */
function keepCompiled(): void {
  const folder = dirname(compiled);
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const draft = `${compiled}.${process.pid}`;
    try {
      const code = script.createCachedData();
      writeFileSync(draft, Buffer.concat([digestOf(code), code]), { flag: 'wx', mode: 0o600 });
      renameSync(draft, compiled);
    } finally {
      rmSync(draft, { force: true });
    }
    removeOld(folder);
  } catch {
    // We cannot write the cache, or another process was first.
  }
}

function removeOld(folder: string): void {
  const files = readdirSync(folder)
    .map((name) => join(folder, name))
    .map((path) => ({ path, changed: statSync(path).mtimeMs }))
    .sort((a, b) => b.changed - a.changed);
  for (const { path } of files.slice(mostKept)) rmSync(path, { force: true });
}
