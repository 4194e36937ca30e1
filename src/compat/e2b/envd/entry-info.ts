/** Files and directories as clients of E2B see them. */
import { posix } from 'node:path';
import { type Executor, type FileEntry, WorkcellError } from '../../../protocol/index.js';
import type { OpenSandbox } from '../e2b-sandboxes.js';

type Entry = Omit<FileEntry, 'name'>;

const types: Partial<Record<FileEntry['type'], string>> = {
  file: 'FILE_TYPE_FILE',
  directory: 'FILE_TYPE_DIRECTORY',
};

const mostLinks = 16;

/** `path`: as the client knows it, when it leads through a link. */
export async function showEntry(
  { executor, state }: Pick<OpenSandbox, 'executor' | 'state'>,
  entry: Entry,
  path = entry.path,
): Promise<object> {
  const target = entry.type === 'symlink' ? await followLink(executor, entry) : undefined;
  const shown = entry.type === 'symlink' ? target : entry;
  const metadata = state.metadata.get(entry.path);
  return {
    name: posix.basename(path),
    type: types[shown?.type ?? 'symlink'] ?? 'FILE_TYPE_UNSPECIFIED',
    path,
    size: String(shown?.sizeBytes ?? entry.sizeBytes),
    mode: (shown ?? entry).mode & 0o777,
    permissions: permissionsOf(entry),
    owner: 'user',
    group: 'user',
    modifiedTime: new Date(entry.modifiedAt).toISOString(),
    ...(entry.type === 'symlink' && { symlinkTarget: target?.path ?? targetOf(entry) }),
    ...(metadata !== undefined && { metadata }),
  };
}

/** What a link leads to in the end; undefined when that is nothing. */
async function followLink(executor: Executor, link: Entry): Promise<Entry | undefined> {
  let entry = link;
  for (let left = mostLinks; entry.type === 'symlink' && left > 0; left--) {
    try {
      entry = await executor.execute<'stat'>({ action: 'stat', path: targetOf(entry) });
    } catch (error) {
      if (WorkcellError.isInstance(error)) return undefined;
      throw error;
    }
  }
  return entry.type === 'symlink' ? undefined : entry;
}

function targetOf({ path, target = '' }: Entry): string {
  return posix.resolve(posix.dirname(path), target);
}

const marks: Record<FileEntry['type'], string> = {
  file: '-',
  directory: 'd',
  symlink: 'L',
  fifo: 'p',
  socket: 'S',
  device: 'D',
};

function permissionsOf({ type, mode }: Entry): string {
  const bits = [...'rwxrwxrwx'].map((letter, index) => ((mode >> (8 - index)) & 1 ? letter : '-'));
  return `${marks[type]}${bits.join('')}`;
}
