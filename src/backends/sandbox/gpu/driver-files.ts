/**
 * The libraries and tools of the NVIDIA driver, from this machine. They must have the version that its kernel runs.
 */
import { closeSync, openSync, readdirSync, readFileSync, readSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { reachTrusted } from '../../../base/trusted-path.js';
import type { GpuRoots } from './gpu-roots.js';

export interface DriverFile {
  /** What programs look for, such as `libcuda.so.1`. */
  readonly name: string;
  /** Where it is, without links. */
  readonly path: string;
  /** The directory in which we found its name. */
  readonly directory: string;
}

export interface DriverFiles {
  /** `libcuda.so.1`; the others are beside it. */
  readonly main: DriverFile;
  /** The dynamic linker finds them by itself. */
  readonly isCached: boolean;
  readonly tools: readonly DriverFile[];
  /** All of them. There are dozens, so this takes milliseconds. */
  libraries(): readonly DriverFile[];
}

/** Libraries that programs on a card load, without those for drawing on screens. */
const libraryName = /^lib(?:cuda|cudadebugger|nvcuvid|nvoptix|nvidia-[\w-]+)\.so(?:\.\d+)*$/;
const toolNames = ['nvidia-smi', 'nvidia-debugdump'];

/** Undefined when there is no `libcuda.so.1` for this architecture. */
export function findDriverFiles(roots: GpuRoots): DriverFiles | undefined {
  const cached = cachedPaths(roots.linkerCache, 'libcuda.so.1');
  const candidates = [...cached, ...roots.libraries.map((directory) => join(directory, 'libcuda.so.1'))];
  for (const candidate of candidates) {
    const main = libraryAt(candidate);
    if (main === undefined) continue;
    const directories = new Set([main.directory, dirname(main.path)]);
    const programs = new Set([
      ...roots.programs,
      ...[...directories].map((directory) => join(directory, '../bin')),
    ]);
    return {
      main,
      isCached: cached.includes(candidate),
      libraries: () => [...directories].flatMap(librariesIn),
      tools: toolNames.flatMap((name) => firstTool([...programs].map((directory) => join(directory, name)))),
    };
  }
  return undefined;
}

/** Where the dynamic linker finds a library, for all architectures: its cache has whole paths among other texts. */
export function cachedPaths(linkerCache: string, name: string): string[] {
  try {
    const texts = readFileSync(linkerCache, 'latin1').split('\0');
    return texts.filter((text) => text.startsWith('/') && text.endsWith(`/${name}`));
  } catch {
    return [];
  }
}

function librariesIn(directory: string): DriverFile[] {
  return readdirSync(directory)
    .filter((name) => libraryName.test(name))
    .flatMap((name) => libraryAt(join(directory, name)) ?? []);
}

/** A library under that name, wherever links lead, as long as they end at one of the driver. */
function libraryAt(path: string): DriverFile | undefined {
  const found = fileAt(path, isOfThisArchitecture);
  return found !== undefined && libraryName.test(basename(found.path)) ? found : undefined;
}

function firstTool(paths: readonly string[]): DriverFile[] {
  for (const path of paths) {
    const found = fileAt(path, () => true);
    if (found !== undefined && basename(found.path) === basename(path)) return [found];
  }
  return [];
}

/** A regular file that only root or this user can have put there. */
function fileAt(path: string, accept: (base: string) => boolean): DriverFile | undefined {
  try {
    using file = reachTrusted(path);
    if (!file.stats.isFile() || !accept(file.base)) return undefined;
    return { name: basename(path), path: file.path, directory: dirname(path) };
  } catch {
    return undefined;
  }
}

/** How files of programs name the architecture they are for. */
const machines: Readonly<Record<string, number>> = { x64: 62, arm64: 183 };

function isOfThisArchitecture(path: string): boolean {
  const header = Buffer.alloc(20);
  const descriptor = openSync(path, 'r');
  try {
    readSync(descriptor, header, 0, header.length, 0);
  } finally {
    closeSync(descriptor);
  }
  return header.toString('latin1', 0, 4) === '\x7fELF' && header.readUInt16LE(18) === machines[process.arch];
}
