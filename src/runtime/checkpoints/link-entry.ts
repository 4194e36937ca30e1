/** Gives what a layer holds to another layer, too: directories are made again, and all else gets one more name. */
import { linkSync, mkdirSync, type Stats, utimesSync } from 'node:fs';
import type { Pace } from '../../base/pace.js';
import { type Folder, isWhiteout } from './layer-folder.js';
import type { Whiteouts } from './whiteouts.js';

export interface LinkOptions {
  readonly whiteouts: Whiteouts;
  readonly pace: Pace;
  /** Called before each that is neither a directory nor a whiteout. */
  readonly onFile?: (stats: Stats) => void;
}

export async function linkEntry(from: Folder, name: string, to: Folder, options: LinkOptions): Promise<void> {
  await options.pace.step();
  const stats = from.stat(name);
  if (stats === undefined) return;
  if (!stats.isDirectory()) {
    if (isWhiteout(stats)) return options.whiteouts.put(to, name);
    options.onFile?.(stats);
    linkSync(from.at(name), to.at(name));
    return;
  }
  using source = from.child(name) as Folder;
  mkdirSync(to.at(name), { mode: 0o700 });
  using target = to.child(name) as Folder;
  for await (const inner of source.names(options.pace)) await linkEntry(source, inner, target, options);
  settle(target, stats);
}

/** The mode comes last: it may be one that keeps this side out. */
export function settle(to: Folder, stats: Stats): void {
  utimesSync(to.base, stats.atime, stats.mtime);
  to.mode(stats.mode & 0o7777);
}
