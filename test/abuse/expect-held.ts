import { expect } from 'vitest';
import type { Verdict } from '../../src/testing/abuse/index.js';

/** The case declares what a cell does not claim, with its reason, for cells whose own report says so. */
export function expectHeld(verdict: Verdict | undefined): void {
  expect(verdict?.result, verdict?.detail).toMatch(/^(held|not-claimed)$/);
}
