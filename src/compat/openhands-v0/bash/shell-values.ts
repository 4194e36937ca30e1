/** Numbers of the shell protocol in the form that the other side uses. */
import { constants } from 'node:os';
import type { Observation } from '../../../protocol/index.js';

/** Enough for all that an observation shows of its head and tail, whatever the characters. */
export const maxOutputBytes = { shown: 262_144, hidden: 16_777_216 };

const longestMs = 2_147_483_647;

/** A number of seconds as the executor takes it: whole milliseconds, at least one. */
export function milliseconds(seconds: number): number {
  return Math.min(Math.max(Math.ceil(seconds * 1000), 1), longestMs);
}

/** How Python prints a float. */
export function pythonFloat(value: number): string {
  return Number.isInteger(value) ? `${value}.0` : `${value}`;
}

/** A command that died together with its shell has no exit code; shells use 128 plus the signal for it. */
export function exitCodeOf({ exitCode, signal }: Observation<'run'>): number {
  if (exitCode !== null) return exitCode;
  const signals: Partial<Record<string, number>> = constants.signals;
  return 128 + (signals[signal ?? 'SIGKILL'] ?? constants.signals.SIGKILL);
}
