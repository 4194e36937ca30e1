/** What a new cell finds in its workspace. It passes the pipeline, like all that a client does there. */
import type { Runtime } from '../index.js';
import type { FirstFiles } from '../protocol/service-wire.js';

export async function fillWorkspace(
  runtime: Runtime,
  { archive, repository }: FirstFiles,
  signal: AbortSignal,
): Promise<void> {
  if (archive !== undefined) {
    const { data, path, format } = archive;
    await runtime.files.upload(Buffer.from(data, 'base64'), path, { format, signal });
  }
  if (repository !== undefined) {
    const { url, ...options } = repository;
    await runtime.git.clone(url, { ...options, signal });
  }
}
