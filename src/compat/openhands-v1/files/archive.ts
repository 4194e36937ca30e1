/** A directory in one piece, without heavy files and possible credentials. */

import { posix } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { readTar } from '../../../base/tar-reader.js';
import { type TarMember, writeTar } from '../../../base/tar-writer.js';
import { withoutEnd } from '../../../base/without-end.js';
import type { Executor } from '../../../protocol/index.js';
import { findDelta } from '../../../runtime/git/delta.js';
import { inspect } from '../../../runtime/git/git-command.js';
import { callOf } from '../../../runtime/verb-call.js';
import { type ArchiveFilter, createArchiveFilter } from './archive-filter.js';
import { type Base, findExportBase } from './repository.js';

export interface ArchiveOptions {
  readonly use_default_excludes: boolean;
  /** Globs; one without a slash means a name at any depth, one with a slash at its end only directories. */
  readonly exclude: readonly string[];
}

const heavy = [
  '.git/',
  'node_modules/',
  '.venv/',
  'venv/',
  '__pycache__/',
  '.cache/',
  '.mypy_cache/',
  '.pytest_cache/',
  '.ruff_cache/',
  'dist/',
  'build/',
  '.next/',
  'target/',
  '*.pyc',
];

const manifestName = 'archive_manifest.json';

/** Everything new or changed in the working tree of a repository, as a patch. */
export async function openPatch(
  executor: Executor,
  path: string,
  { base_ref: ref, ...options }: ArchiveOptions & { readonly base_ref?: string | undefined },
): Promise<{ patch: Buffer; base: Base }> {
  const call = callOf(executor);
  const base = await findExportBase(await inspect(call, path), ref);
  const exclude = patternsOf(options).flatMap((pattern) => {
    const name = withoutEnd(pattern, '/');
    const place = name.includes('/') ? name : `**/${name}`;
    return pattern.endsWith('/') ? [`${place}/**`] : [place, `${place}/**`];
  });
  return { patch: await findDelta(call, path, { base: base.id, exclude }), base };
}

/** Checks the path and begins; creates the bytes while the client reads them. Keeps links as links. */
export async function openArchive(
  executor: Executor,
  path: string,
  options: ArchiveOptions,
): Promise<Readable> {
  const patterns = patternsOf(options);
  const isExcluded = createArchiveFilter(patterns);
  const { content } = await executor.download(path, { format: 'tar' });
  const manifest = { format: 'tar.gz', path, excluded: patterns };
  const members = repacked(content, { top: posix.basename(path), isExcluded, manifest });
  const compressed = createGzip();
  pipeline(Readable.from(writeTar(members), { objectMode: false }), compressed).catch((error: unknown) =>
    compressed.destroy(error as Error),
  );
  return compressed;
}

function patternsOf({ use_default_excludes: withDefaults, exclude }: ArchiveOptions): string[] {
  return [...(withDefaults ? heavy : []), ...exclude];
}

interface Repacking {
  readonly top: string;
  readonly isExcluded: ArchiveFilter;
  readonly manifest: object;
}

async function* repacked(
  content: AsyncIterable<Uint8Array>,
  { top, isExcluded, manifest }: Repacking,
): AsyncGenerator<TarMember> {
  let hasManifest = false;
  for await (const { type, ...member } of readTar(content)) {
    const isKind = type === 'file' || type === 'directory' || type === 'symlink' || type === 'link';
    if (!isKind || isExcluded(member.name, type === 'directory')) continue;
    hasManifest ||= member.name === manifestName;
    yield { ...member, type, name: posix.join(top, member.name) };
  }
  if (hasManifest) return;
  const text = Buffer.from(JSON.stringify(manifest));
  yield { name: posix.join(top, manifestName), size: text.length, content: [text] };
}
