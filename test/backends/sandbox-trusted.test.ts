/** The contract with the trusted side switched on. What holds for a sandbox holds for every backend: the pipeline is one. */
import { guarded, secretive } from '../contract/dimensions.js';
import { contractSuite } from '../contract/suite.js';

contractSuite(
  'a sandbox with guards',
  { backend: 'sandbox' },
  { traits: ['kernels', 'checkpoints', 'forks'], dimension: guarded },
);

contractSuite(
  'a sandbox with secrets',
  { backend: 'sandbox' },
  { traits: ['kernels', 'checkpoints', 'forks'], dimension: secretive },
);
