import { randomUUID } from 'node:crypto';

/** Identifies a process, to tell whether two sides are the same one and so share its loopback. */
export const thisProcess = randomUUID();
