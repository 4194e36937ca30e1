import { constants } from 'node:os';
import { errorTable } from '../protocol/errors.js';
import type { Observation } from '../protocol/index.js';

const signals: Partial<Record<string, number>> = constants.signals;

/** The exit code that tells how a command ended, in the manner of shells and of `timeout(1)`. */
export function exitCodeOf({
  endedBy,
  exitCode,
  signal,
}: Pick<Observation<'run'>, 'endedBy' | 'exitCode' | 'signal'>): number {
  if (endedBy === 'timeout' || endedBy === 'no-change') return errorTable['timed-out'].exitCode;
  if (endedBy === 'cancelled') return errorTable.cancelled.exitCode;
  if (exitCode !== null) return exitCode;
  if (signal !== null) return 128 + (signals[signal] ?? 0);
  if (endedBy === 'oom' || endedBy === 'killed') return 128 + constants.signals.SIGKILL;
  if (endedBy === 'output-limit') return errorTable['file-too-large'].exitCode;
  return errorTable['runtime-disconnected'].exitCode;
}
