/** What this machine keeps of a kept cell: how to reach it, what it enforces, and who works in it. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { enterOwn, type OwnDirectory, openOwnDirectory } from '../../base/own-directory.js';
import { stateDirectory } from '../../base/user-directories.js';
import { discardNamed } from '../../cell/launchers/scratch.js';
import { isolationSchema, WorkcellError } from '../../protocol/index.js';

/** What a process that attaches later cannot find out by itself. The cluster does not have the token. */
const stateSchema = z.object({ token: z.string(), isolation: isolationSchema });

export type PodState = z.infer<typeof stateSchema>;

/** A pod lives longer than what this machine keeps for the time until it starts again, or for a login. */
function podHomes(): OwnDirectory {
  return openOwnDirectory(join(stateDirectory(), 'kubernetes'));
}

export function makePodHome(id: string): string {
  const path = join(podHomes().path, id);
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'EEXIST') throw cause;
    const message = `This machine keeps a cell "${id}" already. Choose another id.`;
    throw new WorkcellError('already-exists', message, { details: { id }, cause });
  }
  return path;
}

/** The home that a pod names, if it is one of this user's. Anybody who may make pods can write any path there. */
export function findPodHome(named: string | undefined): string | undefined {
  const kept = podHomes();
  if (named === undefined || dirname(named) !== kept.path) return undefined;
  using home = enterOwn(kept, named.slice(kept.path.length + 1));
  return home?.path;
}

export function removePodHome(path: string): Promise<void> {
  return discardNamed(path);
}

export function writePodState(home: string, state: PodState): void {
  writeFileSync(join(home, 'state.json'), JSON.stringify(state), { mode: 0o600 });
}

export function readPodState(home: string): PodState | undefined {
  try {
    return stateSchema.parse(JSON.parse(readFileSync(join(home, 'state.json'), 'utf8')));
  } catch {
    return undefined;
  }
}
