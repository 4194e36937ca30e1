import { constants } from 'node:os';

/** In the way of a shell: a process that a signal ended has 128 plus the signal's number. */
export function exitCodeOf({
  exitCode,
  signal,
}: {
  readonly exitCode: number | null;
  readonly signal: string | null;
}): number {
  return exitCode ?? 128 + (constants.signals[(signal ?? 'SIGKILL') as NodeJS.Signals] ?? 0);
}
