/**
 * The directory of one cell on this machine: its socket, its workspace if that is temporary, its changes to overlays.
 */
import { randomInt } from 'node:crypto';
import { chmodSync, chownSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { enterOwn, runtimeDirectory, temporaryDirectory } from '../../base/own-directory.js';
import { resolverConfiguration } from '../../cell/launchers/bubblewrap/egress/egress.js';
import { discardNamed, makeScratch } from '../../cell/launchers/scratch.js';
import type { CellSettings } from '../../cell/server/serve-cell.js';
import { isolationSchema } from '../../protocol/index.js';
import { openWorkspace } from '../workspace.js';
import { settingsName } from './container.js';
import type { DockerOptions } from './docker-options.js';

export interface Home {
  readonly path: string;
  /** A directory that the cell sees, too. */
  readonly wire: string;
  /** What the cell sees as its `resolv.conf`: empty, or the gateway. */
  readonly resolver: string;
  readonly overlays: string;
  /** Plugins that are not of this package, where the cell has any. */
  readonly plugins: string;
  /** The workspace, unless its owner named another one. */
  readonly workspace: string;
}

export interface User {
  readonly uid: number;
  readonly gid: number;
}

/** The user of commands, when nothing says whose they are and others work on the same files. */
const anybody: User = { uid: 1000, gid: 1000 };

/** Far from the users of machines and images. */
const ownUsers = { from: 1_000_000_000, to: 2_000_000_000 } as const;

export function makeHome(id: string, { keepAlive, rules }: DockerOptions): Home {
  const isRuled = rules !== undefined;
  const home = homeAt(keepAlive ? join(runtimeDirectory().path, id) : makeScratch('docker'));
  // The container names it, so it has its final name from the beginning.
  if (keepAlive) mkdirSync(home.path, { mode: 0o700 });
  mkdirSync(home.wire);
  mkdirSync(home.overlays);
  writeFileSync(home.resolver, isRuled ? resolverConfiguration : '');
  // Root of the container may be another user here, or one without any rights. Other users cannot reach this
  // directory.
  chmodSync(home.wire, 0o777);
  return home;
}

/**
 * The home that a container names, if it is one of this user's. Everybody who may use the engine can write any path
 * there.
 */
export function findHome(named: string | undefined): Home | undefined {
  if (named === undefined) return undefined;
  const [kept, temporary] = [runtimeDirectory(), temporaryDirectory()];
  const name = named.slice(dirname(named).length + 1);
  if (dirname(named) === kept.path) {
    using home = enterOwn(kept, name);
    return home === undefined ? undefined : homeAt(home.path);
  }
  // The home of an unkept cell is in a directory with the name of its owner.
  if (dirname(dirname(named)) !== temporary.path) return undefined;
  using owner = enterOwn(temporary, dirname(named).slice(temporary.path.length + 1));
  if (owner === undefined) return undefined;
  using home = enterOwn(owner, name);
  return home === undefined ? undefined : homeAt(home.path);
}

function homeAt(path: string): Home {
  const below = (name: string) => join(path, name);
  return {
    path,
    wire: below('w'),
    resolver: below('n'),
    overlays: below('o'),
    plugins: below('p'),
    workspace: below('workspace'),
  };
}

/** It may hold a workspace, and so whatever programs put there. */
export function removeHome({ path }: Home): Promise<void> {
  return discardNamed(path);
}

/** For the executor. Other users cannot reach it, on either side. */
export function writeSettings({ wire }: Home, settings: CellSettings): void {
  const file = join(wire, settingsName);
  writeFileSync(file, JSON.stringify(settings));
  chmodSync(file, 0o644);
}

/** Files by name, for the executor to read; the container has them read-only. */
export function writePlugins({ plugins }: Home, files: ReadonlyMap<string, string>): void {
  mkdirSync(plugins);
  chmodSync(plugins, 0o755);
  for (const [name, content] of files) {
    writeFileSync(join(plugins, name), content);
    chmodSync(join(plugins, name), 0o644);
  }
}

/** What a process that attaches later cannot find out by itself. */
const stateSchema = z.object({ isolation: isolationSchema, executor: z.int() });

export function writeState({ path }: Home, state: z.infer<typeof stateSchema>): void {
  writeFileSync(join(path, 'state.json'), JSON.stringify(state), { mode: 0o600 });
}

export function readState({ path }: Home): z.infer<typeof stateSchema> | undefined {
  try {
    return stateSchema.parse(JSON.parse(readFileSync(join(path, 'state.json'), 'utf8')));
  } catch {
    return undefined;
  }
}

/** The workspace on this machine, and the user that runs commands, so that both sides can work in it. */
export function furnish(
  home: Home,
  options: DockerOptions,
): { workspace: string; user: User; isOwn: boolean } {
  const { workspace: given, user: named } = options;
  if (given !== undefined) {
    const { path } = openWorkspace(given);
    return { workspace: path, user: parseUser(named) ?? ownerOf(path), isOwn: false };
  }
  const isOwn = named === undefined && mayHaveOwnUser(options);
  const user = parseUser(named) ?? (isOwn ? newUser() : callingUser());
  const path = home.workspace;
  mkdirSync(path, { mode: 0o700 });
  if (process.getuid?.() === 0) chownSync(path, user.uid, user.gid);
  return { workspace: path, user, isOwn };
}

/**
 * Files of a volume or of the image's system have an owner already; only root can change the owner of a directory.
 */
function mayHaveOwnUser({ volumes, writableSystem }: DockerOptions): boolean {
  return process.getuid?.() === 0 && volumes.length === 0 && !writableSystem;
}

/** The kernel counts many resources per user, so a cell with its own user takes nothing from others. */
function newUser(): User {
  const uid = randomInt(ownUsers.from, ownUsers.to);
  return { uid, gid: uid };
}

function parseUser(text: string | undefined): User | undefined {
  if (text === undefined) return undefined;
  const [uid = 0, gid = uid] = text.split(':').map(Number);
  return { uid, gid };
}

function ownerOf(path: string): User {
  const { uid, gid } = statSync(path);
  return { uid, gid };
}

function callingUser(): User {
  const uid = process.getuid?.() ?? 0;
  return uid === 0 ? anybody : { uid, gid: process.getgid?.() ?? uid };
}
