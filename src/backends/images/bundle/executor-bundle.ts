/** The executor as one directory that works on any glibc image: mounted read-only, or copied into a layer. */
import { createHash } from 'node:crypto';
import { constants, existsSync } from 'node:fs';
import { copyFile, cp, link, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { cacheDirectory } from '../../../base/user-directories.js';
import { WorkcellError } from '../../../protocol/index.js';
import { bundleObstacle } from './bundle-obstacle.js';
import { keep, removeUnused, touch } from './bundle-store.js';
import { asFunction, makeCodeCache, starter } from './code-cache.js';
import { keepNode } from './node.js';
import { executorScript, wholePackages } from './script.js';

/** Where a cell has the directory. */
export const bundleMount = '/opt/workcell';

/** A directory with the executor and its Node, ready to mount into a container. */
export interface ExecutorBundle {
  /** On this machine. The same contents are always in the same directory, and nothing changes it afterwards. */
  readonly directory: string;
  /** Of the contents. */
  readonly hash: string;
  /** Of Node and its libraries alone. */
  readonly nodeHash: string;
  /**
   * Words that start the program of a cell when the directory is at `mount`; its arguments follow, as `executor
   * --listen …`.
   */
  command(mount?: string): string[];
}

/** Which Node goes into the bundle. */
export interface BundleOptions {
  /** A Node binary for Linux with glibc. Default: the one that runs this. */
  readonly node?: string | undefined;
}

/** Changes when the layout of the directory does. */
const layout = 5;

const made = new Map<string, ExecutorBundle>();

/** Creates the bundle of this version in the cache of this user, or finds the existing one. */
export async function executorBundle(options: BundleOptions = {}): Promise<ExecutorBundle> {
  const obstacle = bundleObstacle();
  if (obstacle !== undefined) {
    const { summary, advice } = obstacle;
    throw new WorkcellError('backend-unavailable', `${summary} ${advice.join(' ')}`);
  }
  const binary = options.node ?? process.execPath;
  const key = JSON.stringify([cacheDirectory(), binary]);
  const before = made.get(key);
  // Somebody may have emptied the cache since.
  if (before !== undefined && existsSync(before.directory)) return before;
  const bundle = await makeBundle(binary);
  made.set(key, bundle);
  return bundle;
}

async function makeBundle(binary: string): Promise<ExecutorBundle> {
  const [node, { files, packages, hash }] = await Promise.all([
    keepNode(binary, terminalAddon().path),
    programContents(),
  ]);
  const digest = createHash('sha256').update(`${layout}\n${node.hash}\n${hash}`).digest('hex');
  const directory = join(cacheDirectory(), `executor-${digest.slice(0, 16)}`);
  await keep(directory, async (draft) => {
    await mkdir(join(draft, 'lib'));
    const libraries = await readdir(join(node.directory, 'lib'));
    for (const name of ['node', ...libraries.map((file) => join('lib', file))])
      await share(join(node.directory, name), join(draft, name));
    for (const [path, content] of files) await write(join(draft, path), content);
    for (const [name, source] of packages)
      await cp(source, join(draft, 'node_modules', name), { recursive: true, dereference: true });
    await makeCodeCache(draft, nodeCommand(draft, node.loader));
    // The next one that runs removes what this one cannot.
    await removeUnused('executor-').catch(() => {});
  });
  // This user may be able only to read the cache.
  await touch(directory).catch(() => {});
  return {
    directory,
    hash: digest,
    nodeHash: node.hash,
    command: (mount = bundleMount) => [...nodeCommand(mount, node.loader), `${mount}/executor.cjs`],
  };
}

interface Contents {
  readonly files: ReadonlyMap<string, Uint8Array>;
  /** Directories of whole packages, by name. */
  readonly packages: ReadonlyMap<string, string>;
  readonly hash: string;
}

let contents: Promise<Contents> | undefined;

/** All but Node. It does not change while this process runs. */
function programContents(): Promise<Contents> {
  contents ??= readContents();
  contents.catch(() => {
    contents = undefined;
  });
  return contents;
}

async function readContents(): Promise<Contents> {
  const { name, path } = terminalAddon();
  const [script, addon] = await Promise.all([executorScript(), readFile(path)]);
  const files = new Map([
    ['program.js', asFunction(script)],
    ['executor.cjs', Buffer.from(starter())],
    ['node_modules/@lydell/node-pty/index.js', Buffer.from('')],
    [`node_modules/${name}/pty.node`, addon],
  ]);
  const hash = createHash('sha256');
  for (const [path, content] of files)
    hash.update(path).update(createHash('sha256').update(content).digest());
  const packages = new Map(wholePackages.flatMap(installed));
  // A published version does not change, so its package.json identifies all of it.
  for (const directory of packages.values()) hash.update(await readFile(join(directory, 'package.json')));
  return { files, packages, hash: hash.digest('hex') };
}

function installed(name: string): [string, string][] {
  try {
    return [[name, dirname(createRequire(import.meta.url).resolve(`${name}/package.json`))]];
  } catch {
    return [];
  }
}

/** Pass the library path to the loader: a variable would reach the commands of the cell too. */
function nodeCommand(mount: string, loader: string): string[] {
  return [`${mount}/lib/${loader}`, '--inhibit-cache', '--library-path', `${mount}/lib`, `${mount}/node`];
}

/** The package that opens terminals, and its binary. */
function terminalAddon(): { name: string; path: string } {
  const name = `@lydell/node-pty-linux-${process.arch}`;
  try {
    const main = createRequire(import.meta.url).resolve('@lydell/node-pty');
    return { name, path: createRequire(main).resolve(`${name}/pty.node`) };
  } catch (cause) {
    throw new WorkcellError(
      'capability-unsupported',
      `The executor needs the optional package ${name}, which is not installed.`,
      { cause },
    );
  }
}

/** Takes no space twice, where the file system can do that. */
async function share(source: string, target: string): Promise<void> {
  await link(source, target).catch(() => copyFile(source, target, constants.COPYFILE_FICLONE));
}

async function write(path: string, content: Uint8Array): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, content, { flush: true });
}
