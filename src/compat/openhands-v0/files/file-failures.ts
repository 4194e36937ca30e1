import { WorkcellError } from '../../../protocol/index.js';
import { failureText } from '../../failure-messages.js';
import type { Text } from '../../messages.js';
import { words } from '../openhands-words.js';

/** The content of the `error` observation for a file that we cannot read or write. */
export function failureOf(error: unknown, path: string, cwd: string): Text {
  if (!WorkcellError.isInstance(error)) throw error;
  if (error.code === 'not-found' || error.code === 'not-a-directory')
    return words('read.not_found', { path, cwd });
  if (error.code === 'not-a-file' && error.details.errno === 'EISDIR')
    return words('read.is_directory', { path });
  if (error.code === 'file-too-large') return words('read.too_large', { path });
  return failureText(error);
}
