/** A `run` with `is_static`: a separate shell, which ends afterwards. */
import { randomUUID } from 'node:crypto';
import { posix } from 'node:path';
import { quote } from '../../../base/shell-quote.js';
import type { Executor } from '../../../protocol/index.js';
import type { ObservationEvent } from '../observations.js';
import { perform } from '../perform-action.js';
import { type BashOptions, BashSession } from './bash-session.js';
import { readStartupFile } from './shell-prompt.js';

export async function runStatic(
  executor: Executor,
  options: BashOptions,
  request: Parameters<BashSession['run']>[0],
): Promise<ObservationEvent> {
  const session = `static-${randomUUID()}`;
  const cwd = posix.resolve(options.workingDirectory, request.cwd ?? '.');
  try {
    // The executor reports a bad directory; the move itself then cannot fail.
    await perform(executor, { action: 'run', command: ':', cwd, session });
    await perform(executor, { action: 'run', command: `\\builtin cd -- ${quote(cwd)}`, session });
    await readStartupFile(executor, session);
    return await new BashSession(executor, { ...options, session, workingDirectory: cwd }).run(request);
  } finally {
    await perform(executor, { action: 'close_session', session });
  }
}
