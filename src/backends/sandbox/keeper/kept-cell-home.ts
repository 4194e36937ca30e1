/** The directory of one cell that a keeper holds: its sockets, its lease, and what we need to find it again. */
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
import {
  enterOwn,
  type OwnDirectory,
  openOwnDirectory,
  runtimeDirectory,
} from '../../../base/own-directory.js';
import { discardTree } from '../../../base/remove-tree.js';
import { discardNamed, isAbandoned, ownedPrefix, removeFile } from '../../../cell/launchers/scratch.js';
import { isolationSchema } from '../../../protocol/index.js';
import { type Lease, takeLease } from '../../lease.js';

export interface CellHome {
  readonly path: string;
  /** The socket of its executor. */
  readonly socket: string;
  /** The socket on which its keeper takes requests to pause, resume and stop it. */
  readonly control: string;
  readonly workspace: string;
}

const stateSchema = z.object({
  id: z.string(),
  token: z.string(),
  keepAlive: z.boolean(),
  /** On this machine. */
  workspace: z.string(),
  isolation: isolationSchema,
  /** Rules say what it reaches. */
  isRuled: z.boolean().default(false),
});

export type CellState = z.infer<typeof stateSchema>;

/**
 * Creates a new one. It takes the lease before the directory gets its name, so that no process finds it without a
 * holder.
 */
export async function makeCellHome(id: string): Promise<{ home: CellHome; lease: Lease }> {
  const directory = cells().path;
  const unnamed = join(directory, `${ownedPrefix()}${id}`);
  mkdirSync(unnamed, { mode: 0o700 });
  const lease = await takeLease(id, unnamed);
  const home = homeAt(join(directory, id));
  renameSync(unnamed, home.path);
  return { home, lease };
}

/** Names the paths of a cell's directory; it need not exist. */
export function cellHome(id: string): CellHome {
  return homeAt(join(cells().path, id));
}

/** It may hold a workspace, and so whatever programs put there. */
export function removeCellHome({ path }: CellHome): Promise<void> {
  return discardNamed(path);
}

/** From here on others can attach. */
export function writeState({ path }: CellHome, state: CellState): void {
  const written = join(path, 'state.new');
  writeFileSync(written, JSON.stringify(state), { mode: 0o600 });
  renameSync(written, join(path, 'state.json'));
}

/** Undefined when there is no such cell. */
export function readState(id: string): CellState | undefined {
  using home = enterOwn(cells(), id);
  if (home === undefined) return undefined;
  try {
    const state = stateSchema.parse(JSON.parse(readFileSync(join(home.base, 'state.json'), 'utf8')));
    return state.id === id ? state : undefined;
  } catch {
    return undefined;
  }
}

export function startedAt({ path }: CellHome): Date | undefined {
  return statSync(join(path, 'state.json'), { throwIfNoEntry: false })?.mtime;
}

export function markPaused({ path }: CellHome, paused: boolean): void {
  const mark = join(path, 'paused');
  if (paused) writeFileSync(mark, '', { mode: 0o600 });
  else removeFile(mark);
}

export function isPaused({ path }: CellHome): boolean {
  return existsSync(join(path, 'paused'));
}

/** The ids of all cells there. Removes what a killed starter left. */
export async function listCellIds(): Promise<string[]> {
  const directory = cells();
  const names = readdirSync(directory.base);
  for (const name of names.filter(isAbandoned))
    await discardTree(join(directory.base, name), { onlyOwn: true });
  return names.filter((name) => !name.startsWith('workcell-'));
}

/** The directory that keepers listen in. */
export function keeperDirectory(): string {
  return openOwnDirectory(join(runtimeDirectory().path, 'keeper')).path;
}

function cells(): OwnDirectory {
  return openOwnDirectory(join(runtimeDirectory().path, 'sandbox'));
}

/** Names are short because the path of a socket may have only about a hundred characters. */
function homeAt(path: string): CellHome {
  return {
    path,
    socket: join(path, 's'),
    control: join(path, 'c'),
    workspace: join(path, 'workspace'),
  };
}
