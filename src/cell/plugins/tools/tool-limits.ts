/** Bounds of tools that more than one part must agree on. */
import * as z from 'zod';

export const toolNameSchema = z
  .string()
  .regex(/^[\w-]{1,64}$/, 'must be 1 to 64 letters, digits, "_" and "-"');

/** How many one module may have. */
export const mostTools = 256;

/** How long a call may take by default. */
export const defaultTimeoutMs = 120_000;

/** How long a tool host may take to start. */
export const startLimitMs = 30_000;

/** How long it may take to load a module: a Python package can import a thousand others. */
export const loadLimitMs = 120_000;

/** A host that does not even confirm a cancelled call is stuck, and everything in it with it. */
export const graceMs = 1000;

/** How much output of a call to keep from each stream, and how much to report while it runs. */
export const captureBytes = 65_536;
export const streamBytes = 1_048_576;

/** A host must keep to its own bounds; beyond these we do not trust it. */
export const frameLimitBytes = 16_777_216;
export const deepestResult = 512;
export const mostValues = 300_000;

/** How much can be on its way to a host that does not read, and how many of its requests run at once. */
export const unreadBytes = 67_108_864;
export const mostRequests = 64;

/** How many pieces of progress to pass on from one call. */
export const progressLimit = 10_000;
