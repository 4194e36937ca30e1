import { randomUUID } from 'node:crypto';

/** Tells whether two who say it are the same process, and so have the same loopback. */
export const thisProcess = randomUUID();
