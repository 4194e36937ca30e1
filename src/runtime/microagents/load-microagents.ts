/** Reads microagents from all their sources. */
import { stat } from 'node:fs/promises';
import { basename, dirname, posix, resolve } from 'node:path';
import { homeDirectory } from '../../base/user-directories.js';
import { WorkcellError } from '../../protocol/index.js';
import type { RuntimeGit } from '../git/runtime-git.js';
import type { Call } from '../verb-call.js';
import { type Collected, collectFrom, collectInstructions } from './collect-microagents.js';
import { cellFolder, type Folder, hostFolder } from './folder.js';
import { LoadedMicroagents } from './loaded.js';
import { loadOrganisation, type OrganisationOptions, type OrganisationResult } from './organisation.js';

export interface LoadMicroagentsOptions {
  /** The repository. Default: the workspace. */
  readonly path?: string | undefined;
  /** `false` leaves the organisation out. Default: derived from the address of `origin`, read without a token. */
  readonly organisation?: boolean | OrganisationOptions | undefined;
  /** A directory on this machine with microagents, or one that holds `microagents`, or `false`. Default: `~/.openhands`, then `~/.workcell`. */
  readonly user?: string | false | undefined;
  /** Names of microagents to leave out. */
  readonly disabled?: readonly string[] | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Folders of a repository or a user; the later one wins. */
const folders = ['.openhands', '.workcell'];

export async function loadMicroagents(
  call: Call,
  workspace: RuntimeGit,
  options: LoadMicroagentsOptions,
): Promise<LoadedMicroagents> {
  const places = { workspace, repository: workspace.at(options.path ?? '.') };
  const organisation = await organisationOf(call, places, options);
  const found: Collected[] = [];
  for (const { folder, below } of await userFolders(options.user))
    found.push(await collectFrom(folder, below, 'user'));
  if (organisation !== undefined) found.push(organisation);
  const repository = cellFolder(call, places.repository.path);
  found.push(await collectInstructions(repository, 'repository'));
  for (const folder of folders)
    found.push(await collectFrom(repository, posix.join(folder, 'microagents'), 'repository'));
  return new LoadedMicroagents(found, organisation, options.disabled ?? []);
}

async function organisationOf(
  call: Call,
  places: { workspace: RuntimeGit; repository: RuntimeGit },
  { organisation = true, signal }: LoadMicroagentsOptions,
): Promise<OrganisationResult | undefined> {
  if (organisation === false) return undefined;
  return loadOrganisation(call, places, { signal, ...(organisation === true ? {} : organisation) });
}

interface UserFolder {
  readonly folder: Folder;
  readonly below: string;
}

async function userFolders(user: string | false | undefined): Promise<UserFolder[]> {
  if (user === false) return [];
  if (user !== undefined) return [await namedFolder(user)];
  const home = homeDirectory();
  return folders.map((name) => ({ folder: hostFolder(posix.join(home, name)), below: 'microagents' }));
}

/** A folder that the user names must exist. */
async function namedFolder(user: string): Promise<UserFolder> {
  const path = resolve(user);
  if (await isDirectory(posix.join(path, 'microagents')))
    return { folder: hostFolder(path), below: 'microagents' };
  if (await isDirectory(path)) return { folder: hostFolder(dirname(path)), below: basename(path) };
  throw new WorkcellError('not-found', `There is no directory ${path} with microagents on this machine.`, {
    details: { path },
  });
}

async function isDirectory(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined))?.isDirectory() ?? false;
}
