/**
 * The contract of a vendor's backend. The executor in it is the one that every other backend shows whole, so each run shows
 * what depends on the way to it, and `npm run contract:vendors` all of it.
 */
import { test } from 'vitest';
import { contractTests, type RequirementId } from '../../../src/testing/index.js';

const shown: readonly RequirementId[] = [
  'transfer.file',
  'transfer.range',
  'transfer.tar',
  'output.stream',
  'output.slow-listener',
  'limits.cancel',
  'processes.bytes',
  'processes.signal',
  'terminals.session',
  'ports.forward',
  'runtime.facts',
  'runtime.concurrent',
  'runtime.close-settles',
];

export function contractSample(
  options: Parameters<typeof contractTests>[0],
  more: readonly RequirementId[] = [],
): void {
  const all = contractTests(options, { traits: ['limited-tree', 'kernels', 'checkpoints', 'forks'] });
  const chosen = all.filter(
    ({ id }) => process.env.WHOLE_CONTRACT === '1' || [...shown, ...more].includes(id),
  );
  // The first one may have to make the archive of the executor.
  for (const { title, run } of chosen) test(title, { timeout: 180_000 }, run);
}
