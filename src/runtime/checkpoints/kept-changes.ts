/** Changes to a directory that outlive the runtime in which they were made, until somebody takes them over or removes them. */
import { randomBytes } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, renameSync, type Stats, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { z } from 'zod';
import { Pace } from '../../base/pace.js';
import { discardTree } from '../../base/remove-tree.js';
import type { TakenOver, TakeOverOptions } from './checkpoint-types.js';
import { compareViews, type Difference } from './compare.js';
import { copyEntry } from './copy-entry.js';
import { Folder } from './layer-folder.js';
import { settle } from './link-entry.js';
import { type PathTree, treeOf } from './path-tree.js';
import { showChanges, type WorkspaceChange } from './show-changes.js';
import { exceptGit, takeOver } from './take-over.js';
import { Whiteouts } from './whiteouts.js';
import { type View, ViewFolder, withEntry } from './workspace-view.js';
import { stateOf, writeChanges } from './write-changes.js';

export interface ChangesToKeep {
  /** That they are for, without links. */
  readonly directory: string;
  readonly before: View;
  readonly after: View;
  readonly isOwn: (difference: Difference) => boolean;
  /** Whether somebody else changed or removed an entry of the directory. */
  readonly since: (path: string, stats: Stats | undefined) => boolean;
}

const recordSchema = z.object({
  directory: z.string(),
  createdAt: z.iso.datetime(),
  changes: z.int(),
  /** What each entry of the directory was like, by its path in Latin-1. */
  states: z.array(z.tuple([z.string(), z.string()])),
});

type KeptRecord = z.infer<typeof recordSchema>;

/** No state of an entry is this one. */
const changedBefore = 'changed';

/** `place`: a directory of this user alone. Returns their id; undefined when nothing changed. */
export async function keepChanges(
  place: string,
  { directory, before, after, isOwn, since }: ChangesToKeep,
): Promise<string | undefined> {
  const differences = (await compareViews(before, after)).filter(isOwn);
  if (differences.length === 0) return undefined;
  const id = randomBytes(4).toString('hex');
  const unfinished = join(place, `.new-${id}`);
  mkdirSync(join(unfinished, 'layer'), { recursive: true, mode: 0o700 });
  try {
    const paths = new Set(differences.map(({ path }) => path));
    using to = Folder.open(join(unfinished, 'layer'));
    using is = ViewFolder.open(after);
    await new Filling(new Whiteouts(unfinished)).directory(to, is, treeOf(paths));
    using now = ViewFolder.open({ base: directory });
    const states: [path: string, state: string][] = [];
    for (const path of paths) {
      const stats = await withEntry(now, path, (found) => found?.stats);
      states.push([path, since(path, stats) ? changedBefore : stateOf(stats)]);
    }
    const createdAt = new Date().toISOString();
    writeRecord(unfinished, { directory, createdAt, changes: differences.length, states });
    renameSync(unfinished, join(place, id));
  } catch (error) {
    await discardTree(unfinished);
    throw error;
  }
  return id;
}

class Filling {
  readonly #pace = new Pace(undefined);
  readonly #whiteouts: Whiteouts;

  constructor(whiteouts: Whiteouts) {
    this.#whiteouts = whiteouts;
  }

  async directory(to: Folder, from: ViewFolder, tree: PathTree): Promise<void> {
    for (const [name, inner] of tree) {
      await this.#pace.step();
      const found = from.find(name);
      if (found === undefined) await this.#whiteouts.put(to, name);
      else if (!found.stats.isDirectory()) await copyEntry(found.folder, name, found.stats, to);
      else {
        mkdirSync(to.at(name), { mode: 0o700 });
        using target = to.child(name) as Folder;
        using source = from.child(name) as ViewFolder;
        await this.directory(target, source, inner);
        settle(target, found.stats);
      }
    }
  }
}

/** What a place keeps, the oldest first. What has no record that can be read counts as none. */
export function keptIn(place: string): KeptChanges[] {
  return readdirSync(place)
    .filter((name) => /^[0-9a-f]{8}$/.test(name))
    .flatMap((id) => KeptChanges.open(join(place, id)) ?? [])
    .sort((one, other) => (one.createdAt < other.createdAt ? -1 : 1));
}

export class KeptChanges {
  readonly path: string;
  readonly #record: KeptRecord;
  readonly #states: Map<string, string>;

  private constructor(path: string, record: KeptRecord) {
    this.path = path;
    this.#record = record;
    this.#states = new Map(record.states);
  }

  /** Undefined where there is none. */
  static open(path: string): KeptChanges | undefined {
    const record = readRecord(path);
    return record && new KeptChanges(path, record);
  }

  get id(): string {
    return basename(this.path);
  }

  get createdAt(): string {
    return this.#record.createdAt;
  }

  /** How many. */
  get changes(): number {
    return this.#record.changes;
  }

  async diff(): Promise<WorkspaceChange[]> {
    const [before, after] = this.#views();
    return showChanges(before, after, (await compareViews(before, after)).filter(this.#isOwn));
  }

  /** Writes them to their directory. What somebody else changed there since is a conflict. */
  async apply(options: TakeOverOptions & { readonly git?: boolean | undefined }): Promise<TakenOver> {
    const { directory } = this.#record;
    const [before, after] = this.#views();
    const { leftOut, isWanted } = exceptGit(this.#isOwn);
    const plan = {
      before,
      after,
      target: directory,
      isOwn: options.git ? this.#isOwn : isWanted,
      since: (path: string, stats: Stats | undefined) => this.#states.get(path) !== stateOf(stats),
    };
    const { states, ...taken } = await takeOver(plan, options, (view, writes) =>
      writeChanges(directory, view, writes),
    );
    if (taken.applied && taken.conflicts.length === 0 && leftOut.size === 0) await this.discard();
    else if (taken.applied) {
      for (const [path, state] of states) this.#states.set(path, state);
      writeRecord(this.path, { ...this.#record, states: [...this.#states] });
    }
    return { ...taken, ...(leftOut.size > 0 && { leftOut: [...leftOut] }) };
  }

  discard(): Promise<void> {
    return discardKept(this.path);
  }

  /** Below a directory that is to go, somebody else may have made entries. They make it stay. */
  readonly #isOwn = ({ path }: Difference): boolean => this.#states.has(path);

  #views(): [before: View, after: View] {
    const { directory } = this.#record;
    return [{ base: directory }, { layer: join(this.path, 'layer'), base: directory }];
  }
}

/** What is left of kept changes when something kills the process that removes them. */
export const gonePrefix = '.gone-';

/** Renames the directory first, so that nobody takes a part of the changes for all of them. */
export async function discardKept(path: string): Promise<void> {
  const gone = join(dirname(path), `${gonePrefix}${basename(path)}`);
  try {
    renameSync(path, gone);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
  await discardTree(gone);
}

const recordName = 'record.json';

/** Whole or not at all. */
function writeRecord(path: string, record: KeptRecord): void {
  const next = join(path, `${recordName}.new`);
  writeFileSync(next, JSON.stringify(record), { mode: 0o600 });
  renameSync(next, join(path, recordName));
}

function readRecord(path: string): KeptRecord | undefined {
  try {
    return recordSchema.parse(JSON.parse(readFileSync(join(path, recordName), 'utf8')));
  } catch {
    return undefined;
  }
}
