/** The directory of one local cell: its socket, its temporary files, its log, and what is needed to find it again. */
import { randomBytes } from 'node:crypto';
import {
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { readProcess } from '../../launchers/process-table.js';
import { makeScratch } from '../../launchers/scratch.js';
import { WorkcellError } from '../../protocol/index.js';

const stateSchema = z.object({
  id: z.string(),
  pid: z.int(),
  /** Tells the server from a later process with the same id. */
  startTicks: z.number(),
  token: z.string(),
  workspace: z.string(),
});

export type State = z.infer<typeof stateSchema>;

export interface Home {
  readonly path: string;
  readonly socketPath: string;
  readonly temporary: string;
}

/** A home that goes with this process. */
export function makeHome(): Home {
  return furnish(realpathSync(makeScratch('local')));
}

/** A home that stays when this process ends, and is found again by id. */
export function makeLastingHome(id: string): Home {
  const path = join(ensureRuntimeDirectory(), id);
  mkdirSync(path, { mode: 0o700 });
  return furnish(path);
}

export function openLastingHome(id: string): Home {
  return homeAt(join(ensureRuntimeDirectory(), id));
}

export function removeHome({ path }: Home): void {
  rmSync(path, { recursive: true, force: true });
}

export function newToken(): string {
  return randomBytes(32).toString('base64url');
}

export function writeState(home: Home, state: Omit<State, 'startTicks'>): void {
  const startTicks = readProcess(state.pid)?.startTicks ?? 0;
  writeFileSync(join(home.path, 'state.json'), JSON.stringify({ ...state, startTicks }), { mode: 0o600 });
}

/** What is known of a lasting cell; undefined when there is no such one. */
export function readState(id: string): State | undefined {
  if (!/^[\w-]{1,64}$/.test(id)) return undefined;
  try {
    return stateSchema.parse(JSON.parse(readFileSync(join(runtimeDirectory(), id, 'state.json'), 'utf8')));
  } catch {
    return undefined;
  }
}

export function isRunning({ pid, startTicks }: State): boolean {
  return readProcess(pid)?.startTicks === startTicks;
}

export function lastingIds(): string[] {
  try {
    return readdirSync(runtimeDirectory());
  } catch {
    return [];
  }
}

function furnish(path: string): Home {
  const home = homeAt(path);
  mkdirSync(home.temporary, { mode: 0o700 });
  return home;
}

/** Names are short because the path of a socket may have only about a hundred characters. */
function homeAt(path: string): Home {
  return { path, socketPath: join(path, 's'), temporary: join(path, 't') };
}

function runtimeDirectory(): string {
  const { XDG_RUNTIME_DIR: own } = process.env;
  return own !== undefined && own !== ''
    ? join(own, 'workcell')
    : join(tmpdir(), `workcell-${process.getuid?.() ?? 0}`);
}

/** In a directory that others may write to, the name could have been taken by somebody else. */
function ensureRuntimeDirectory(): string {
  const path = runtimeDirectory();
  mkdirSync(path, { recursive: true, mode: 0o700 });
  const { uid, mode } = lstatSync(path);
  if (lstatSync(path).isDirectory() && uid === process.getuid?.() && (mode & 0o077) === 0) return path;
  throw new WorkcellError(
    'backend-unavailable',
    `${path} is not a directory of this user alone, so cells cannot be kept there. Remove it, or set XDG_RUNTIME_DIR.`,
    { details: { path } },
  );
}
