/** Settings that count even in an untrusted file of a project: those that allow less than the other settings. */
import { type IsolationTier, isAtLeast } from '../protocol/isolation.js';

interface Narrowing {
  /** False for a value that would allow more. Default: true. */
  readonly may?: (value: unknown) => boolean;
  /** The value of both together; the second one when the first adds nothing to it. */
  readonly combine: (value: unknown, before: unknown) => unknown;
}

const shorter: Narrowing = { combine: (value, before) => Math.min(value as number, before as number) };
const stricter: Narrowing = {
  combine: (value, before) => (isAtLeast(before as IsolationTier, value as IsolationTier) ? before : value),
};
const all: Narrowing = {
  combine(value, before) {
    const more = (value as unknown[]).filter((entry) => !(before as unknown[]).includes(entry));
    return more.length === 0 ? before : [...(before as unknown[]), ...more];
  },
};
/** Only this one value, above any other. */
const only = (narrowest: string): Narrowing => ({
  may: (value) => value === narrowest,
  combine: (value, before) => (before === narrowest ? before : value),
});
/** The rules of this package are no code of the project, and send nothing anywhere. */
const ownGuards: Narrowing = { ...all, may: (value) => String(value) === 'rules' };
/** We compare every action with every pattern, so a foreign file may not bring as many as it likes. */
const mostPatterns = 500;

/** Refusals come first, so that no later permission lifts them. */
const refusals: Narrowing = {
  may(value) {
    const rules = value as { decision: string }[];
    const patterns = rules.flatMap((rule) => Object.values(rule).flat());
    return patterns.length <= mostPatterns && rules.every(({ decision }) => decision === 'deny');
  },
  combine: (value, before) => [...(value as unknown[]), ...(before as unknown[])],
};

/** All others widen, also those that look harmless: a short retention removes the record, a quiet log hides warnings. */
const narrowing: Readonly<Record<string, Narrowing>> = {
  min_isolation: stricter,
  min_facts: all,
  'sandbox.timeout': shorter,
  'sandbox.no_change_timeout': shorter,
  'security.guards': ownGuards,
  'security.rules': refusals,
  'security.outside_workspace': only('deny'),
  'network.mode': only('none'),
  'network.deny': all,
};

export const narrowingKeys: readonly string[] = Object.keys(narrowing);

/** False where the value would allow more. */
export function mayNarrow(key: string, value: unknown): boolean {
  const known = narrowing[key];
  return known !== undefined && (known.may?.(value) ?? true);
}

/** The value that counts; undefined when the previous value is as strict already. */
export function narrow(key: string, value: unknown, before: unknown): unknown {
  if (before === undefined) return value;
  const combined = narrowing[key]?.combine(value, before) ?? before;
  return combined === before ? undefined : combined;
}
