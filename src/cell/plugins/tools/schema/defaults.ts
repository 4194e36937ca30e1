/** Fills in what a value lacks, once it fits as the caller sent it. */
import { type Absent, findIssues } from './check.js';
import type { SchemaDocument } from './document.js';
import { TooMuchWork, type Work } from './work.js';

/**
 * Sets the defaults of absent values, each where it fits its own schema. A value that fits must still fit with them,
 * since the next side checks it again: otherwise leave out the defaults of choices, and then all of them.
 */
export function fillDefaults(
  document: SchemaDocument,
  value: unknown,
  absent: readonly Absent[],
  work: Work,
): void {
  if (absent.length === 0) return;
  const filled: Absent[] = [];
  const fitsAfter = (step: () => void): boolean => {
    try {
      step();
      return findIssues(document, value, work.again()).issues.length === 0;
    } catch (error) {
      if (error instanceof TooMuchWork) return false;
      throw error;
    }
  };
  if (fitsAfter(() => setAll(document, absent, filled, work.again()))) return;
  if (fitsAfter(() => remove(filled, ({ chosen }) => chosen))) return;
  remove(filled, () => true);
}

/** Those within a default come after it. */
function setAll(document: SchemaDocument, absent: readonly Absent[], filled: Absent[], work: Work): void {
  const waiting = [...absent];
  for (const next of waiting) {
    const { at, name, json, schema } = next;
    if (Object.hasOwn(at, name) && at[name] !== undefined) continue;
    const given: unknown = JSON.parse(json);
    const { issues, absent: inner } = findIssues(document, given, work, schema);
    if (issues.length > 0) continue;
    // Do not assign: the name may be `__proto__`.
    Object.defineProperty(at, name, { value: given, enumerable: true, writable: true, configurable: true });
    filled.push(next);
    waiting.push(...inner);
  }
}

function remove(filled: readonly Absent[], which: (absent: Absent) => boolean): void {
  for (const absent of filled) if (which(absent)) delete absent.at[absent.name];
}
