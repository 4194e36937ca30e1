/** Where `workcell run --overlay` keeps what commands changed, and how the commands for that find it again. */
import { createHash, randomUUID } from 'node:crypto';
import { mkdirSync, readdirSync, realpathSync, statSync, writeFileSync } from 'node:fs';
import { rmdir } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { openOwnDirectory } from '../base/own-directory.js';
import { discardTree } from '../base/remove-tree.js';
import { stateDirectory } from '../base/user-directories.js';
import { isAbandoned, ownedPrefix, removeFile } from '../cell/launchers/scratch.js';
import { type Runtime, WorkcellError } from '../index.js';
import { discardKept, gonePrefix, KeptChanges, keptIn } from '../runtime/checkpoints/kept-changes.js';
import { historyOf } from '../runtime/checkpoints/runtime-history.js';

const dayMs = 86_400_000;
const mostDays = 30;
const mostInAll = 100;
const mostOfOne = 10;
const mostTries = 100;

/** Returns the id of what it kept; undefined where that cannot be. */
export async function keepOverlay(runtime: Runtime, directory: string): Promise<string | undefined> {
  const all = openOwnDirectory(join(stateDirectory(), 'overlays')).path;
  const place = placeOf(all, directory);
  // There, what one command changed would be part of what the next one sees.
  if (`${all}/`.startsWith(`${realpathSync(resolve(directory))}/`)) return undefined;
  const id = await keepIn(place, () => historyOf(runtime).keep(place, runtime));
  // What it cannot remove, the next one tries again.
  await collectGarbage(all).catch(() => {});
  return id;
}

/** Another program removes a place while it is empty, so hold it until it is not. */
async function keepIn<T>(place: string, work: () => Promise<T>): Promise<T> {
  const held = join(place, `${ownedPrefix()}${randomUUID()}`);
  for (let tries = 0; ; tries++) {
    mkdirSync(place, { recursive: true, mode: 0o700 });
    try {
      writeFileSync(held, '', { mode: 0o600 });
      break;
    } catch (error) {
      if (!isGone(error) || tries === mostTries) throw error;
    }
  }
  try {
    return await work();
  } finally {
    removeFile(held);
  }
}

/** The newest first. */
export function keptFor(directory: string): KeptChanges[] {
  const place = placeOf(join(stateDirectory(), 'overlays'), directory);
  return unlessGone(() => keptIn(place).reverse()) ?? [];
}

export function findKept(directory: string, id?: string): KeptChanges {
  const kept = keptFor(directory);
  const [found, ...others] =
    id === undefined ? kept.slice(0, 1) : kept.filter((one) => id !== '' && one.id.startsWith(id));
  if (found !== undefined && others.length > 0) throw ambiguous(id as string, [found, ...others]);
  if (found !== undefined) return found;
  throw new WorkcellError(
    'not-found',
    id === undefined
      ? `No changes to ${resolve(directory)} are kept. "workcell run --overlay" keeps what a command changes.`
      : `There are no kept changes ${JSON.stringify(id)} to ${resolve(directory)}; "workcell diff --list" lists them.`,
    { details: { path: resolve(directory) } },
  );
}

function ambiguous(id: string, found: readonly KeptChanges[]): WorkcellError {
  const ids = found.map((one) => one.id);
  return new WorkcellError(
    'invalid-action',
    `${JSON.stringify(id)} may be any of the kept changes ${ids.join(', ')}. Write more of the one that you mean.`,
    { details: { ids } },
  );
}

/** Calls `work` with these changes as they are now, while no other program applies or removes them. */
export async function holding<T>(
  { path, id }: KeptChanges,
  work: (kept: KeptChanges) => Promise<T>,
): Promise<T> {
  using held = unlessGone(() => hold(path));
  const kept = held && KeptChanges.open(path);
  if (kept !== undefined) return await work(kept);
  throw new WorkcellError('not-found', `The kept changes ${id} have gone meanwhile.`, { details: { path } });
}

/** The names of the files that say who holds something tell an owner that has ended. */
function hold(path: string): Disposable {
  const place = dirname(path);
  const id = basename(path);
  const own = `${ownedPrefix()}${id}`;
  const held = join(place, own);
  writeFileSync(held, '', { mode: 0o600 });
  const release = () => removeFile(held);
  const others = readdirSync(place).filter((name) => isHold(name) && name.endsWith(`-${id}`) && name !== own);
  if (others.every(isAbandoned)) return { [Symbol.dispose]: release };
  release();
  throw new WorkcellError(
    'cell-in-use',
    `Another program applies or removes the kept changes ${id}. Try again when it has ended.`,
    { details: { path } },
  );
}

function isHold(name: string): boolean {
  return name.startsWith('workcell-');
}

function placeOf(all: string, directory: string): string {
  const path = realpathSync(resolve(directory));
  return join(all, createHash('sha256').update(path).digest('hex').slice(0, 32));
}

/** What is old, the oldest of what is too many, what others left when they were killed, and places that are empty. */
async function collectGarbage(all: string): Promise<void> {
  const byAge: { path: string; place: string; ageMs: number }[] = [];
  const namesIn = (directory: string) => unlessGone(() => readdirSync(directory)) ?? [];
  for (const place of namesIn(all))
    for (const name of namesIn(join(all, place))) {
      const path = join(all, place, name);
      const stats = statSync(path, { throwIfNoEntry: false });
      if (isHold(name)) {
        if (isAbandoned(name)) removeFile(path);
      } else if (name.startsWith(gonePrefix)) await discardTree(path);
      else if (stats !== undefined) byAge.push({ path, place, ageMs: Date.now() - stats.mtimeMs });
    }
  byAge.sort((one, other) => one.ageMs - other.ageMs);
  const counts = new Map<string, number>();
  for (const [index, { path, place, ageMs }] of byAge.entries()) {
    const count = (counts.get(place) ?? 0) + 1;
    counts.set(place, count);
    if (index >= mostInAll || count > mostOfOne || ageMs > mostDays * dayMs) await discardUnlessHeld(path);
  }
  for (const place of namesIn(all)) await rmdir(join(all, place)).catch(() => {});
}

/** Other programs remove places, too. */
function unlessGone<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch (error) {
    if (isGone(error)) return undefined;
    throw error;
  }
}

function isGone(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === 'ENOENT';
}

async function discardUnlessHeld(path: string): Promise<void> {
  try {
    using held = unlessGone(() => hold(path));
    if (held !== undefined) await discardKept(path);
  } catch (error) {
    if (!WorkcellError.isInstance(error)) throw error;
  }
}
