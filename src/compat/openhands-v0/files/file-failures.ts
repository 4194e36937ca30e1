import { WorkcellError } from '../../../protocol/index.js';
import { files } from '../openhands-messages.js';

/** The content of the `error` observation for a file that cannot be read or written. */
export function failureOf(error: unknown, path: string, cwd: string): string {
  if (!WorkcellError.isInstance(error)) throw error;
  if (error.code === 'not-found' || error.code === 'not-a-directory') return files.notFound(path, cwd);
  if (error.code === 'not-a-file' && error.details.errno === 'EISDIR') return files.isDirectory(path);
  if (error.code === 'file-too-large') return files.tooLarge(path);
  return error.message;
}
