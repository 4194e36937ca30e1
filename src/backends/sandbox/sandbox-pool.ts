/** Sandboxes that start ahead of demand. */
import { createPool } from '../pool.js';
import type { SandboxOptions } from './sandbox-options.js';
import { type SandboxCell, startSandbox } from './start-sandbox.js';

const pool = createPool<SandboxOptions, SandboxCell>({
  start: startSandbox,
  onTake: ({ launcher }) => launcher.ref(),
  onPark: ({ launcher }) => launcher.unref(),
});

export const { take: takeSandbox, stats: poolStats, fill: fillPools, drain: drainPools } = pool;
