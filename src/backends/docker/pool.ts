/** Containers that were started before anybody asked. */
import { randomBytes } from 'node:crypto';
import type { Cell } from '../../protocol/index.js';
import { createPool } from '../pool.js';
import { startContainer } from './cell.js';
import type { DockerOptions } from './options.js';

const pool = createPool<DockerOptions, Cell>({
  // Whoever takes it gives it an id of his own; this one names the container.
  start: (options) => startContainer(options, { id: randomBytes(8).toString('hex') }),
});

export const { take: takeContainer, fill: fillPools, drain: drainPools } = pool;
