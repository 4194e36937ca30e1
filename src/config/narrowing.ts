/** What a configuration file may say that was found by searching, and that nobody has trusted: only less than before. */
import { type IsolationTier, isAtLeast } from '../protocol/isolation.js';

/** The value that holds when both are said; the second one when the first adds nothing to it. */
type Combine = (value: unknown, before: unknown) => unknown;

const shorter: Combine = (value, before) => Math.min(value as number, before as number);
const stricter: Combine = (value, before) =>
  isAtLeast(before as IsolationTier, value as IsolationTier) ? before : value;
const all: Combine = (value, before) => {
  const more = (value as unknown[]).filter((entry) => !(before as unknown[]).includes(entry));
  return more.length === 0 ? before : [...(before as unknown[]), ...more];
};

/** All others widen, also those that look harmless: a short retention removes the record, a quiet log hides warnings. */
const narrowing: Readonly<Record<string, Combine>> = {
  min_isolation: stricter,
  min_facts: all,
  'sandbox.timeout': shorter,
  'sandbox.no_change_timeout': shorter,
};

export const narrowingKeys: readonly string[] = Object.keys(narrowing);

/** The value that counts; undefined when what was said before is as strict already. */
export function narrow(key: string, value: unknown, before: unknown): unknown {
  if (before === undefined) return value;
  const combined = narrowing[key]?.(value, before) ?? before;
  return combined === before ? undefined : combined;
}
