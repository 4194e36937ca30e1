import { collect } from '../base/collect.js';
import { type Runtime, WorkcellError } from '../index.js';

/** A file in a cell can say that it has terabytes. */
const mostBytes = 64 * 1024 * 1024;

/** A file as bytes, for frameworks that ask for all of it at once. Throws `file-too-large` beyond 64 MiB. */
export async function wholeFile(runtime: Runtime, path: string, signal?: AbortSignal): Promise<Buffer> {
  const { content } = await runtime.files.download(path, { signal });
  return collect(
    content,
    mostBytes,
    () =>
      new WorkcellError(
        'file-too-large',
        `${JSON.stringify(path)} has more than ${mostBytes} bytes, too many to hand them over at once. Read it as a stream, or with a command.`,
        { details: { path, limitBytes: mostBytes } },
      ),
  );
}
