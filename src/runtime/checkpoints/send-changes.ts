/**
 * Brings files into a cell through its executor: content as archives, and what archives cannot carry by a script that the cell
 * runs as the user of its commands. So nothing here can do more than the cell itself could.
 */
import { randomBytes } from 'node:crypto';
import { createReadStream, fstatSync, readlinkSync } from 'node:fs';
import { posix } from 'node:path';
import { type TarMember, writeTar } from '../../base/tar-writer.js';
import { type Action, type Cell, parseAction, WorkcellError } from '../../protocol/index.js';
import type { Difference } from './compare.js';
import { textOf } from './layer-folder.js';
import { openEntry } from './same-entry.js';
import { type View, ViewFolder, withEntry } from './workspace-view.js';
import { inOrder, stagingPrefix, type Write } from './write-changes.js';

/** An archive may hold no more than an executor takes at once. */
const batchEntries = 5000;
const batchBytes = 268_435_456;

/** A program in the cell can stop the script, which runs as the same user. */
const scriptMs = 600_000;
const lineMs = 20;

interface Sent {
  /** Of the file in the archive. */
  readonly name: string;
  readonly path: string;
  readonly mode: number;
  readonly sizeBytes: number;
}

/** For an empty workspace. `differences`: all that the view holds. */
export async function fillWorkspace(
  cell: Cell,
  view: View,
  differences: readonly Difference[],
): Promise<void> {
  using root = ViewFolder.open(view);
  const files = differences.flatMap(({ path, after }) =>
    after?.kind === 'file' ? [{ name: asText(path), path, ...after }] : [],
  );
  const directories = differences.filter(({ after }) => after?.kind === 'directory');
  const script = new Script(cell.workspace);
  for (const { path } of directories) script.line('mkdir', '-p', '--', path);
  await script.run(cell, stagingOf());
  await sendFiles(cell, '.', root, files);
  for (const { path, mode } of files) if (mode === 0) script.line('chmod', '0', '--', path);
  for (const { path, after } of differences)
    if (after?.kind === 'link') script.link(await targetOf(root, path), path);
  for (const { path, after } of directories.reverse()) script.mode(after?.mode ?? 0, path);
  await script.run(cell, stagingOf());
}

/** Each file comes in whole, by a rename. `view` holds what the writes lead to. */
export async function sendChanges(cell: Cell, view: View, writes: readonly Write[]): Promise<void> {
  if (writes.length === 0) return;
  using root = ViewFolder.open(view);
  const staging = stagingOf();
  const { inTheWay, placed, removals } = inOrder(writes);
  const script = new Script(cell.workspace);
  const locked = await lockedParents(root, writes);
  for (const [path] of locked) script.line('chmod', 'u+rwx', '--', path);
  for (const write of inTheWay) script.remove(write);
  const files: Sent[] = [];
  for (const [index, { path, after, makesParents }] of placed) {
    const name = String(index);
    const staged = `${staging}/${name}`;
    if (makesParents) script.line('mkdir', '-p', '--', posix.dirname(path));
    if (after?.kind === 'directory') script.directory(path);
    else if (after?.kind === 'link') {
      script.link(await targetOf(root, path), staged);
      script.line('mv', '-fT', '--', staged, path);
    } else if (after?.kind === 'file') {
      files.push({ name, path, mode: after.mode, sizeBytes: after.sizeBytes });
      if (after.mode === 0) script.line('chmod', '0', '--', staged);
      script.line('mv', '-fT', '--', staged, path);
    }
  }
  for (const write of removals) script.remove(write);
  for (const [, { path, after }] of placed.reverse())
    if (after?.kind === 'directory') script.mode(after.mode, path);
  for (const [path, mode] of locked) script.mode(mode, path);
  await sendFiles(cell, staging, root, files);
  await script.run(cell, staging);
}

function stagingOf(): string {
  return `${stagingPrefix}${randomBytes(6).toString('hex')}`;
}

async function sendFiles(
  cell: Cell,
  folder: string,
  root: ViewFolder,
  files: readonly Sent[],
): Promise<void> {
  const target = posix.join(cell.workspace, folder);
  const { executor } = cell;
  let batch: Sent[] = [];
  let bytes = 0;
  const flush = async () => {
    if (batch.length > 0) await executor.upload(target, writeTar(membersOf(root, batch)), { format: 'tar' });
    [batch, bytes] = [[], 0];
  };
  for (const file of files) {
    if (file.sizeBytes > batchBytes) {
      await executor.upload(posix.join(target, file.name), contentOf(await opened(root, file.path)), {
        mode: file.mode & 0o777,
      });
      continue;
    }
    if (batch.length >= batchEntries || bytes + file.sizeBytes > batchBytes) await flush();
    batch.push(file);
    bytes += file.sizeBytes;
  }
  await flush();
}

async function* membersOf(root: ViewFolder, files: readonly Sent[]): AsyncGenerator<TarMember> {
  for (const { name, path, mode } of files) {
    const descriptor = await opened(root, path);
    yield { name, mode: mode & 0o777, size: fstatSync(descriptor).size, content: contentOf(descriptor) };
  }
}

/** Closes the descriptor. */
function contentOf(fd: number): AsyncIterable<Uint8Array> {
  return createReadStream('', { fd, autoClose: true, start: 0 });
}

function opened(root: ViewFolder, path: string): Promise<number> {
  return withEntry(root, path, (found) => {
    if (found === undefined) throw new Error(`${textOf(path)} is gone from the copy of the workspace.`);
    return openEntry(found);
  });
}

function targetOf(root: ViewFolder, path: string): Promise<string> {
  return withEntry(root, path, (found) =>
    found === undefined ? '' : readlinkSync(found.folder.at(found.name), 'latin1' as BufferEncoding),
  );
}

/** The directories that stay, above what changes, whose mode keeps their own user from it. */
async function lockedParents(root: ViewFolder, writes: readonly Write[]): Promise<[string, number][]> {
  const parents = new Set<string>();
  for (const { path } of writes)
    for (let at = posix.dirname(path); at !== '.'; at = posix.dirname(at)) parents.add(at);
  const placed = new Set(writes.map(({ path }) => path));
  const locked: [string, number][] = [];
  for (const path of [...parents].sort()) {
    if (placed.has(path)) continue;
    const mode = await withEntry(root, path, (found) => found?.stats.mode);
    if (mode !== undefined && (mode & 0o700) !== 0o700) locked.push([path, mode]);
  }
  return locked;
}

/** What the commands of the script say goes nowhere: whether all is as it should be shows afterwards. */
class Script {
  readonly #workspace: string;
  #lines: string[] = [];

  constructor(workspace: string) {
    this.#workspace = workspace;
  }

  line(...words: string[]): void {
    this.#lines.push(words.map(quoted).join(' '));
  }

  link(target: string, path: string): void {
    this.line('ln', '-s', '--', target, path);
  }

  mode(mode: number, path: string): void {
    this.line('chmod', (mode & 0o777).toString(8), '--', path);
  }

  directory(path: string): void {
    const name = quoted(path);
    this.#lines.push(`[ -d ${name} ] && [ ! -L ${name} ] || { rm -f -- ${name}; mkdir -- ${name}; }`);
    this.line('chmod', 'u+rwx', '--', path);
  }

  /** A directory that somebody else has put something into stays. */
  remove({ path, before }: Write): void {
    if (before?.kind === 'directory') this.line('rmdir', '--', path);
    else this.line('rm', '-f', '--', path);
  }

  /** Runs what it has so far, from a directory in the workspace that goes afterwards. */
  async run(cell: Cell, staging: string): Promise<void> {
    const { executor, workspace } = cell;
    const head = `cd -- ${quoted(Buffer.from(this.#workspace).toString('latin1'))} || exit`;
    const timeoutMs = scriptMs + lineMs * this.#lines.length;
    const text = [head, ...this.#lines, `rm -rf -- ${quoted(staging)}`, ''].join('\n');
    this.#lines = [];
    const path = posix.join(workspace, staging, 'script');
    await executor.upload(path, once(Buffer.from(text)));
    const start = parseAction({ action: 'start_process', argv: ['bash', path] });
    const { id } = await executor.execute<'start_process'>(start as Action<'start_process'>);
    const wait = parseAction({ action: 'wait_process', id, maxOutputBytes: 1024, timeoutMs });
    try {
      await executor.execute<'wait_process'>(wait as Action<'wait_process'>);
    } catch (error) {
      // Whoever stopped it could let it go on later, when nobody expects its changes.
      const kill = parseAction({ action: 'signal_process', id, signal: 'SIGKILL' });
      executor.execute<'signal_process'>(kill as Action<'signal_process'>).catch(() => {});
      throw error;
    }
  }
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}

/** A word of bash, from bytes as Latin-1. */
function quoted(word: string): string {
  if (/^[\w./+-]+$/.test(word)) return word;
  const bytes = [...word].map((one) => `\\x${one.charCodeAt(0).toString(16).padStart(2, '0')}`);
  return `$'${bytes.join('')}'`;
}

function asText(path: string): string {
  const text = textOf(path);
  if (Buffer.from(text).toString('latin1') === path) return text;
  throw new WorkcellError(
    'capability-unsupported',
    `The name ${JSON.stringify(text)} is not UTF-8, which a cell on another machine cannot get. Rename it first.`,
    { details: { path: text, capability: 'workspace' } },
  );
}
