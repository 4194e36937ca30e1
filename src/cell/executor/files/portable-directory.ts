/**
 * Open directories for systems without `/proc/self/fd`, such as macOS. A directory is its real path. Resolve the path
 * again after each step, so that we notice a link swapped in meanwhile before we hand anything out.
 */
import { closeSync, constants, fstatSync, lstatSync, openSync, realpathSync } from 'node:fs';
import { at, checkRegular, type Directory } from './directory.js';
import { refusal } from './file-errors.js';

export function openPortableRoot(path: string): Directory {
  const real = realpathSync(path);
  return portableDirectory(real);
}

function portableDirectory(base: string): Directory {
  const stats = lstatSync(base);
  if (!stats.isDirectory()) {
    throw refusal('ENOTDIR');
  }
  return {
    base,
    device: stats.dev,
    open(name) {
      const path = name === '.' ? base : at(this, name).toString();
      const opened = portableDirectory(path);
      checkUnmoved(path);
      return opened;
    },
    openFile(name, flags) {
      const quiet = constants.O_NOFOLLOW | constants.O_NONBLOCK | constants.O_NOCTTY;
      checkRegular(lstatSync(at(this, name)));
      const fd = openSync(at(this, name), flags | quiet);
      try {
        const opened = fstatSync(fd);
        checkRegular(opened);
        checkUnmoved(base);
        return { fd, stats: opened };
      } catch (error) {
        closeSync(fd);
        throw error;
      }
    },
    isRemoved: () => false,
    close() {},
  };
}

function checkUnmoved(path: string): void {
  if (realpathSync(path) !== path) throw refusal('SWAPPED');
}
