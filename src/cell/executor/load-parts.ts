import { loadHandlers } from './handlers/index.js';

/**
 * Loads the parts that an executor otherwise loads at first use. Call it before the process switches to a user who
 * may be unable to read the files of this package.
 */
export async function loadParts(): Promise<void> {
  await Promise.all([
    loadHandlers(),
    import('./executor-terminal.js'),
    import('./files/upload-files.js'),
    import('./files/download-files.js'),
    import('./files/archive/members.js'),
    import('./files/archive/pack-tar.js'),
    import('./files/archive/pack-zip.js'),
    import('./files/archive/unpack.js'),
  ]);
}
