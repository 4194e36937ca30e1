/** The directory of one local cell: its socket, its temporary files, its log, and what we need to find it again. */
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { enterOwn, type OwnDirectory, runtimeDirectory } from '../../base/own-directory.js';
import { discardTree } from '../../base/remove-tree.js';
import { canSignal, readProcess } from '../../cell/launchers/process-table.js';
import { discardNamed, isAbandoned, makeScratch, ownedPrefix } from '../../cell/launchers/scratch.js';

const stateSchema = z.object({
  id: z.string(),
  pid: z.int(),
  /** Distinguishes the server from a later process with the same id. */
  startTicks: z.number(),
  token: z.string(),
  /** Unless it is the one in the home. */
  workspace: z.string().optional(),
});

export type State = z.infer<typeof stateSchema>;

export interface Home {
  readonly path: string;
  readonly socketPath: string;
  readonly temporary: string;
  readonly workspace: string;
}

/** A home that this process removes when it ends. */
export function makeHome(): Home {
  return furnish(makeScratch('local'));
}

/**
 * A home that stays when this process ends. It has the name of this process until `keepHome` gives it the name by
 * which others find it: if this process dies before, the next one removes it.
 */
export async function makeLastingHome(id: string): Promise<Home> {
  const directory = runtimeDirectory();
  await sweep(directory);
  const path = join(directory.path, `${ownedPrefix()}${id}`);
  mkdirSync(path, { mode: 0o700 });
  return furnish(path);
}

/** From here on others find the cell by its id. */
export function keepHome(home: Home, state: Omit<State, 'startTicks'>): Home {
  const startTicks = readProcess(state.pid)?.startTicks ?? 0;
  writeFileSync(join(home.path, 'state.json'), JSON.stringify({ ...state, startTicks }), { mode: 0o600 });
  const kept = openLastingHome(state.id);
  renameSync(home.path, kept.path);
  return kept;
}

export function openLastingHome(id: string): Home {
  return homeAt(join(runtimeDirectory().path, id));
}

/** It may hold a workspace, and so whatever programs put there. */
export function removeHome({ path }: Home): Promise<void> {
  return discardNamed(path);
}

/** What we know of a lasting cell; undefined when it does not exist. */
export function readState(id: string, directory: OwnDirectory = runtimeDirectory()): State | undefined {
  using home = enterOwn(directory, id);
  if (home === undefined) return undefined;
  try {
    const state = stateSchema.parse(JSON.parse(readFileSync(join(home.base, 'state.json'), 'utf8')));
    return state.id === id ? state : undefined;
  } catch {
    return undefined;
  }
}

export function keptSince(id: string): Date | undefined {
  using home = enterOwn(runtimeDirectory(), id);
  if (home === undefined) return undefined;
  return statSync(join(home.base, 'state.json'), { throwIfNoEntry: false })?.mtime;
}

export function isRunning({ pid, startTicks }: State): boolean {
  // Without a proc file system we know only the id.
  return startTicks === 0 ? canSignal(pid) : readProcess(pid)?.startTicks === startTicks;
}

/** The cells that we can find, without those that ended properly or never began. */
export async function lastingCells(): Promise<State[]> {
  const directory = runtimeDirectory();
  await sweep(directory);
  return readdirSync(directory.base)
    .map((name) => readState(name, directory))
    .filter((state) => state !== undefined);
}

/** Removes what a killed starter, or a server that ended properly, could not remove itself. */
async function sweep(directory: OwnDirectory): Promise<void> {
  for (const name of readdirSync(directory.base)) {
    const state = readState(name, directory);
    const place = join(directory.base, name);
    const over = state !== undefined && !isRunning(state) && !existsSync(homeAt(place).socketPath);
    if (over) await discardNamed(place);
    else if (isAbandoned(name)) await discardTree(place, { onlyOwn: true });
  }
}

function furnish(path: string): Home {
  const home = homeAt(path);
  mkdirSync(home.temporary, { mode: 0o700 });
  return home;
}

/** Names are short because the path of a socket may have only about a hundred characters. */
function homeAt(path: string): Home {
  return {
    path,
    socketPath: join(path, 's'),
    temporary: join(path, 't'),
    workspace: join(path, 'workspace'),
  };
}
