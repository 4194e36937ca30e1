/**
 * An open directory. Code reaches everything from it one name at a time without following links, so no rename or link
 * that a process in the cell makes meanwhile can lead elsewhere.
 */
import { closeSync, constants, fstatSync, openSync, type Stats, statfsSync } from 'node:fs';
import { refusal } from './file-errors.js';

/** A file name; bytes when it is not valid UTF-8. */
export type Name = string | Buffer;

export interface OpenFile {
  readonly fd: number;
  readonly stats: Stats;
}

export interface Directory {
  /** Path by which the operating system reaches this very directory, wherever it moves. */
  readonly base: string;
  /** Device number; a different one below means a mount point. */
  readonly device: number;
  /** Opens a directory in this one. ENOTDIR for a symbolic link. */
  open(name: Name): Directory;
  /** Opens a regular file in this directory; refuses anything else without touching it. */
  openFile(name: Name, flags: number): OpenFile;
  /** True when the directory has no name left. */
  isRemoved(): boolean;
  close(): void;
}

/** `O_PATH`: refers to a file without opening it; Node does not name this Linux flag. */
const pathOnly = 0o10000000;
const quiet = constants.O_NONBLOCK | constants.O_NOCTTY;

/** Opens a directory of this machine. `follow`: whether its own name may be a symbolic link. */
export function openRoot(path: string, follow: boolean): Directory {
  const flags = pathOnly | constants.O_DIRECTORY | (follow ? 0 : constants.O_NOFOLLOW);
  return descriptorDirectory(openSync(path, flags));
}

/** The path of an entry of a directory, for one system call. */
export function at(directory: Directory, name: Name): string | Buffer {
  if (typeof name === 'string') return `${directory.base}/${name}`;
  return Buffer.concat([Buffer.from(`${directory.base}/`), name]);
}

export interface Entry {
  readonly name: Name;
  /** The name for people, with a replacement for bytes that are not UTF-8. */
  readonly text: string;
  readonly isDirectory: boolean;
  readonly isFile: boolean;
  readonly isLink: boolean;
}

/** Refuses anything but a regular file. */
export function checkRegular(stats: Stats): void {
  if (stats.isFile()) return;
  if (stats.isDirectory()) throw refusal('EISDIR');
  throw refusal(stats.isSymbolicLink() ? 'SWAPPED' : 'ENXIO');
}

function descriptorDirectory(fd: number, parentDevice?: number): Directory {
  const base = `/proc/self/fd/${fd}`;
  let device: number;
  try {
    device = fstatSync(fd).dev;
    if (device !== parentDevice) checkFileSystem(base);
  } catch (error) {
    closeSync(fd);
    throw error;
  }
  return {
    base,
    device,
    open(name) {
      const flags = pathOnly | constants.O_DIRECTORY | constants.O_NOFOLLOW;
      return descriptorDirectory(openSync(at(this, name), flags), device);
    },
    openFile(name, flags) {
      // Look at the reference first: opening a device can already have an effect.
      const reference = openSync(at(this, name), pathOnly | constants.O_NOFOLLOW);
      try {
        const stats = fstatSync(reference);
        checkRegular(stats);
        if (stats.dev !== device) checkFileSystem(`/proc/self/fd/${reference}`);
        return { fd: openSync(`/proc/self/fd/${reference}`, flags | quiet), stats };
      } finally {
        closeSync(reference);
      }
    },
    isRemoved: () => fstatSync(fd).nlink === 0,
    close() {
      closeSync(fd);
    },
  };
}

/**
 * File systems that are windows into the kernel. File verbs act with the rights of this process, and `self` in them is
 * this process, so leave them to commands, which have the rights of the cell.
 */
const kernelFileSystems = new Set([
  0x9fa0, // proc
  0x62656572, // sysfs
  0x27e0eb, // cgroup
  0x63677270, // cgroup2
  0x64626720, // debugfs
  0x74726163, // tracefs
  0x73636673, // securityfs
  0x62656570, // configfs
  0x42494e4d, // binfmt_misc
  0xcafe4a11, // bpf
]);

function checkFileSystem(base: string): void {
  if (kernelFileSystems.has(statfsSync(base).type)) throw refusal('KERNEL');
}
