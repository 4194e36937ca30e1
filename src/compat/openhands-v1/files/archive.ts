/** A directory as one compressed archive, without what is heavy and without what may hold credentials. */
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { extract, type Pack, pack } from 'tar-stream';
import { compileGlob } from '../../../executor/files/search/glob-pattern.js';
import type { Executor } from '../../../protocol/index.js';

export interface ArchiveOptions {
  readonly use_default_excludes: boolean;
  /** Globs; one without a slash means a name at any depth. */
  readonly exclude: readonly string[];
}

const heavy = [
  '.git',
  'node_modules',
  '.venv',
  'venv',
  '__pycache__',
  '.cache',
  '.mypy_cache',
  '.pytest_cache',
  '.ruff_cache',
  'dist',
  'build',
  '.next',
  'target',
  '*.pyc',
];

/** Left out also when nothing else is: the files of git that remember where and as whom it connected. */
const credentials =
  /(^|\/)\.git\/((modules|worktrees)\/.+\/)?(config|config\.worktree|credentials|FETCH_HEAD|logs)(\/|$)/;

const manifestName = 'archive_manifest.json';

/** Checks the path and begins; the bytes are made as they are read. Links are kept as links. */
export async function openArchive(
  executor: Executor,
  path: string,
  options: ArchiveOptions,
): Promise<Readable> {
  const patterns = [...(options.use_default_excludes ? heavy : []), ...options.exclude];
  const isExcluded = createFilter(patterns);
  const { content } = await executor.download(path, { format: 'tar' });
  const archive = pack();
  const compressed = createGzip();
  const fail = (error: unknown) => compressed.destroy(error as Error);
  pipeline(archive as unknown as NodeJS.ReadableStream, compressed).catch(fail);
  repack(content, archive, { isExcluded, manifest: { format: 'tar.gz', path, excluded: patterns } }).catch(
    (error: unknown) => archive.destroy(error as Error),
  );
  return compressed;
}

/** A member goes when it matches, or when a directory above it does. */
function createFilter(patterns: readonly string[]): (name: string) => boolean {
  const matchers = patterns.map(compileGlob);
  return (name) => {
    if (credentials.test(name)) return true;
    const parts = name.split('/').filter((part) => part !== '');
    return parts.some((_, index) => {
      const prefix = parts.slice(0, index + 1).join('/');
      return matchers.some((matches) => matches(prefix));
    });
  };
}

async function repack(
  content: AsyncIterable<Uint8Array>,
  archive: Pack,
  { isExcluded, manifest }: { isExcluded: (name: string) => boolean; manifest: object },
): Promise<void> {
  const unpacked = extract();
  const source = Readable.from(content);
  const feeding = pipeline(source, unpacked as unknown as NodeJS.WritableStream);
  // Told by the loop below, which ends when this fails.
  feeding.catch(() => {});
  let hasManifest = false;
  try {
    for await (const entry of unpacked) {
      const { header } = entry;
      if (archive.destroyed) return;
      if (isExcluded(header.name)) {
        entry.resume();
        continue;
      }
      hasManifest ||= header.name === manifestName;
      await pipeline(
        entry as unknown as NodeJS.ReadableStream,
        archive.entry(header) as unknown as NodeJS.WritableStream,
      );
    }
    await feeding;
  } finally {
    source.destroy();
  }
  if (!hasManifest) archive.entry({ name: manifestName }, JSON.stringify(manifest));
  archive.finalize();
}
