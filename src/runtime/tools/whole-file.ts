import { collect } from '../../base/collect.js';
import { type Downloaded, WorkcellError } from '../../protocol/index.js';

/** A file in a cell can say that it has terabytes. */
const mostBytes = 64 * 1024 * 1024;

/** A download as bytes, for frameworks that ask for all of it at once. Throws `file-too-large` beyond 64 MiB. */
export function wholeFile({ content }: Downloaded, path: string): Promise<Buffer> {
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
