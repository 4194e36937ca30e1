/**
 * The Node binary for a cell, with every shared library that it and its addons need and their loader. So a cell's
 * image needs none of them, nor the same versions, and we set no variables that commands would inherit.
 */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { constants, createReadStream } from 'node:fs';
import { chmod, copyFile, mkdir, open, readdir, readFile, realpath, stat, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { cacheDirectory } from '../../../base/user-directories.js';
import { WorkcellError } from '../../../protocol/index.js';
import { keep } from './bundle-store.js';

export interface KeptNode {
  /** Holds `node` and `lib/`. */
  readonly directory: string;
  /** File name of the loader in `lib/`. */
  readonly loader: string;
  /** Of the contents. */
  readonly hash: string;
}

/**
 * Copies a Node binary into the cache, with its libraries and those of the addon that it loads. Recognises both by
 * their files, without reading them again each time.
 */
export async function keepNode(node: string, addon: string): Promise<KeptNode> {
  const binary = await realpath(node);
  const files = await Promise.all([binary, addon].map(identify));
  const identity = createHash('sha256').update(JSON.stringify(files));
  const directory = join(cacheDirectory(), `node-${identity.digest('hex').slice(0, 16)}`);
  await keep(directory, async (draft) => {
    const libraries = await sharedLibraries(binary, addon);
    await mkdir(join(draft, 'lib'));
    const hash = createHash('sha256').update(await copy(binary, join(draft, 'node')));
    for (const path of libraries) {
      hash.update(basename(path)).update(await copy(path, join(draft, 'lib', basename(path))));
    }
    await writeFile(join(draft, 'hash'), hash.digest('hex'), { flush: true });
  });
  const loader = (await readdir(join(directory, 'lib'))).find(isLoader) ?? '';
  return { directory, loader, hash: await readFile(join(directory, 'hash'), 'utf8') };
}

async function identify(path: string): Promise<[string, string]> {
  const { size, mtimeNs, ino } = await stat(path, { bigint: true });
  return [path, `${size} ${mtimeNs} ${ino}`];
}

/** Paths of the libraries that the loader would load with the program and with its addon, and of the loader. */
async function sharedLibraries(binary: string, addon: string): Promise<string[]> {
  const own = (await isElf(binary)) ? await listLibraries(binary, { LD_TRACE_LOADED_OBJECTS: '1' }) : [];
  const loader = own.find((path) => isLoader(basename(path)));
  if (loader === undefined) {
    throw new WorkcellError(
      'capability-unsupported',
      `${binary} is not a Node for Linux with glibc, so it cannot run in a container. Name one that is.`,
      { details: { node: binary } },
    );
  }
  const known = new Set(own.map((path) => basename(path)));
  const further = await listLibraries(loader, {}, '--list', addon);
  return [...own, ...further.filter((path) => !known.has(basename(path)))];
}

/** The libraries that the loader lists, in place of starting a program. */
async function listLibraries(
  program: string,
  env: Record<string, string>,
  ...words: string[]
): Promise<string[]> {
  const { stdout } = await promisify(execFile)(program, words, { env });
  return [...stdout.matchAll(/^\s+(?:\S+ => )?(\/\S+) \(0x/gm)].flatMap(([, path]) => path ?? []);
}

async function isElf(path: string): Promise<boolean> {
  await using file = await open(path);
  const { buffer } = await file.read(Buffer.alloc(4), 0, 4, 0);
  return buffer.toString('latin1') === '\x7fELF';
}

/** ld-linux-x86-64.so.2, ld-linux-aarch64.so.1, ld64.so.2, … */
function isLoader(name: string): boolean {
  return /^ld(?:-linux)?[\w-]*\.so\.\d$/.test(name);
}

/** Returns the hash of the copy. */
async function copy(source: string, target: string): Promise<Buffer> {
  await copyFile(source, target, constants.COPYFILE_FICLONE);
  await chmod(target, 0o755);
  await using file = await open(target);
  await file.sync();
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(target)) hash.update(chunk as Buffer);
  return hash.digest();
}
