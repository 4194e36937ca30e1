import { constants } from 'node:os';

/** As a shell gives it: a process that a signal ended has 128 and the signal's number. */
export function exitCodeOf({
  exitCode,
  signal,
}: {
  readonly exitCode: number | null;
  readonly signal: string | null;
}): number {
  return exitCode ?? 128 + (constants.signals[(signal ?? 'SIGKILL') as NodeJS.Signals] ?? 0);
}
