/** What a new cell finds in its workspace. Archives and repositories pass the pipeline, like all that a client does there. */
import { beginWith } from '../backends/saved-checkpoints.js';
import type { Runtime } from '../index.js';
import type { FirstFiles } from '../protocol/service-wire.js';
import type { SavedCheckpoints } from './saved-checkpoints.js';

interface Filling {
  readonly saved: SavedCheckpoints | undefined;
  readonly tenant: string;
  readonly signal: AbortSignal;
}

export async function fillWorkspace(
  runtime: Runtime,
  { checkpoint, archive, repository }: FirstFiles,
  { saved, tenant, signal }: Filling,
): Promise<void> {
  if (checkpoint !== undefined)
    await saved?.reading(tenant, [checkpoint], ([found]) => beginWith(runtime, found, signal));
  if (archive !== undefined) {
    const { data, path, format } = archive;
    await runtime.files.upload(Buffer.from(data, 'base64'), path, { format, signal });
  }
  if (repository !== undefined) {
    const { url, ...options } = repository;
    await runtime.git.clone(url, { ...options, signal });
  }
}
