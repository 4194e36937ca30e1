/** Kept output, read from a byte position that the reader chooses, so that no position cuts a secret into halves. */
import type { Action, ActionName, Executor, Observation } from '../protocol/index.js';
import type { Mask } from './pipeline.js';

/** The most bytes in one answer of `read_output`. */
const mostBytes = 16_777_216;

/** Where `wait_process` starts to report progress, by stream. */
export function wantedFrom(action: Action): Readonly<Record<string, number>> | undefined {
  if (!isFor('wait_process', action)) return undefined;
  const { stdoutFrom, stderrFrom } = action;
  return stdoutFrom === 0 && stderrFrom === 0 ? undefined : { stdout: stdoutFrom, stderr: stderrFrom };
}

/** The action as the executor gets it: with as much more as it takes to see a secret whole. */
export function widened<Name extends ActionName>(action: Action<Name>, { reach }: Mask): Action<Name> {
  if (isFor('wait_process', action)) {
    const { stdoutFrom, stderrFrom } = action;
    return {
      ...action,
      stdoutFrom: Math.max(0, stdoutFrom - reach),
      stderrFrom: Math.max(0, stderrFrom - reach),
    };
  }
  if (isFor('read_output', action))
    return { ...action, limitBytes: Math.min(action.limitBytes, mostBytes - 2 * reach) };
  return action;
}

/** Reads the bytes before and after the answer to a `read_output`, and hides every part of a secret. */
export async function maskOutput(
  executor: Executor,
  action: Action<'read_output'>,
  answer: Observation<'read_output'>,
  mask: Mask,
): Promise<Observation<'read_output'>> {
  const { from, next, encoding } = answer;
  const read = async (start: number) => {
    const limitBytes = Math.max(1, next + mask.reach - start);
    const wide = await executor.execute<'read_output'>({
      ...action,
      from: start,
      limitBytes,
      encoding: 'base64',
    });
    return { bytes: Buffer.from(wide.data, 'base64'), from: wide.from, next: wide.next };
  };
  let wide = await read(Math.max(0, from - mask.reach));
  // The store dropped the middle of a long output, and nothing was there between the two.
  if (wide.next < next) wide = await read(from);
  const shown = await mask.within(wide.bytes, from - wide.from, next - wide.from, encoding === 'base64');
  return { ...answer, data: shown.toString(encoding) };
}

export function isFor<Name extends ActionName>(name: Name, action: Action): action is Action<Name> {
  return action.action === name;
}
