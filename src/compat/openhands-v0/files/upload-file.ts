/** Takes an uploaded file, or unpacks an uploaded zip archive, for `/upload_file`. */
import { posix } from 'node:path';
import type { Executor } from '../../../protocol/index.js';
import { HttpError } from '../http-error.js';
import type { FilePart } from '../multipart-part.js';
import { words } from '../openhands-words.js';
import { perform } from '../perform-action.js';

export async function uploadFile(
  executor: Executor,
  part: FilePart,
  { destination, recursive }: { destination: string; recursive: boolean },
): Promise<{ filename: string; destination: string; recursive: boolean }> {
  if (!destination.startsWith('/')) throw new HttpError(400, words('transfer.relative_destination'));
  const filename = posix.basename(part.filename);
  if (['', '.', '..'].includes(filename) || filename.includes('\0'))
    throw new HttpError(400, words('transfer.bad_name', { name: part.filename }));
  if (recursive && !filename.endsWith('.zip')) throw new HttpError(400, words('transfer.not_a_zip'));
  await perform(executor, { action: 'make_dir', path: destination });
  if (recursive) await executor.upload(destination, part.content, { format: 'zip' });
  else await executor.upload(posix.join(destination, filename), part.content, {});
  return { filename, destination, recursive };
}
