/** Workspaces of several layers, mounted by the kernel in a namespace around the cell. They end with it. */
import { execFile } from 'node:child_process';
import { mkdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { findHostProgram, hostProgram } from '../../base/find-program.js';
import { discardTree } from '../../base/remove-tree.js';
import { quote } from '../../base/shell-quote.js';
import { namespaceLimits } from '../../cell/launchers/limits/namespace-limits.js';
import type { OverlayLimit, WorkspaceOverlay } from '../backend.js';

/** Shell commands that mount an overlay. */
export function overlayCommands({ lower, upper, work, merged, limit }: WorkspaceOverlay): string[] {
  const mount = hostProgram('mount');
  const base = lower.at(-1) as string;
  // A separator in the path of the caller's directory would begin another option, so mount it at a place of ours first.
  const isPlain = !separators.test(base);
  const layers = isPlain ? lower : [...lower.slice(0, -1), merged];
  // Attributes of user namespaces: without them the kernel cannot mark a renamed directory.
  const options = [`lowerdir=${layers.join(':')}`, `upperdir=${upper}`, `workdir=${work}`, 'userxattr'];
  return [
    ...(limit === undefined ? [] : limitCommands(limit, [upper, work], modeOf(lower[0] as string))),
    ...(isPlain ? [] : [`${quote(mount)} --rbind ${quote(base)} ${quote(merged)}`]),
    `${quote(mount)} -t overlay overlay -o ${quote(options.join(','))} ${quote(merged)}`,
  ];
}

/** The root, our two directories, and the one that the kernel makes in `work`. */
const ownFiles = 4;

/** In memory: only there may every user mount a file system of a given size, and the kernel counts it for the cell. */
function limitCommands(
  { place, bytes, files }: OverlayLimit,
  parts: readonly string[],
  mode: string,
): string[] {
  const options = `size=${bytes},nr_inodes=${files + ownFiles},mode=0700,nosuid,nodev`;
  return [
    `${quote(hostProgram('mount'))} -t tmpfs -o ${options} workspace ${quote(place)}`,
    `${quote(hostProgram('mkdir'))} -m ${mode} ${parts.map((part) => quote(part)).join(' ')}`,
  ];
}

/** The directory that the cell sees has the mode of the upper one. */
function modeOf(directory: string): string {
  return (statSync(directory).mode & 0o7777).toString(8);
}

const separators = /[,:\\"\s]/;
const known = new Map<string, Promise<boolean>>();

/** Asks the kernel, once for each pair of file systems. */
export function canOverlay(overlay: WorkspaceOverlay): Promise<boolean> {
  const { lower, upper, work, merged, limit } = overlay;
  if ([...lower.slice(0, -1), upper, work, merged].some((path) => separators.test(path)))
    return Promise.resolve(false);
  const places = limit === undefined ? [lower.at(-1) as string, upper] : [lower.at(-1) as string];
  const key = [limit !== undefined, ...places.map((path) => statSync(path).dev)].join();
  const answer = known.get(key) ?? mounts(overlay);
  known.set(key, answer);
  return answer;
}

async function mounts({ lower, merged, limit }: WorkspaceOverlay): Promise<boolean> {
  if (findHostProgram('mount') === undefined || findHostProgram('mknod') === undefined) return false;
  const trial = `${merged}-trial`;
  const part = (name: string) => join(trial, name);
  const own = limit === undefined ? ['upper', 'work'] : ['limited'];
  for (const name of ['lower/directory', 'merged', ...own]) mkdirSync(part(name), { recursive: true });
  const [upper, work] = ['upper', 'work'].map((name) =>
    part(limit === undefined ? name : `limited/${name}`),
  ) as [string, string];
  const overlay = {
    lower: [part('lower'), lower.at(-1) as string],
    upper,
    work,
    merged: part('merged'),
    ...(limit !== undefined && { limit: { ...limit, place: part('limited') } }),
  };
  // The mark of a directory that replaces another one is an extended attribute, which not every file system has.
  const commands = [
    ...overlayCommands(overlay),
    `cd ${quote(part('merged'))}`,
    'rmdir directory',
    'mkdir directory',
  ];
  const [program, ...words] = namespaceLimits({}, [], part('mark'), { mount: commands }).prefix;
  try {
    if (program === undefined) return false;
    await promisify(execFile)(program, [...words, hostProgram('true')], { cwd: '/', env: {} });
    return true;
  } catch {
    return false;
  } finally {
    await discardTree(trial);
  }
}
