/** Every case of abuse that concerns a cell. */
import type { AbuseCase } from './case.js';
import { archiveCases } from './cases/archive-cases.js';
import { controlCases } from './cases/control-cases.js';
import { fileCases } from './cases/file-cases.js';
import { kernelCases } from './cases/kernel-cases.js';
import { machineCases } from './cases/machine-cases.js';
import { networkCases } from './cases/network-cases.js';
import { outputCases } from './cases/output-cases.js';
import { ownerCases } from './cases/owner-cases.js';
import { processCases } from './cases/process-cases.js';
import { publicCases } from './cases/public-cases.js';
import { resourceCases } from './cases/resource-cases.js';
import { sharedCases } from './cases/shared-cases.js';
import { trustCases } from './cases/trust-cases.js';

export { runCase, type Verdict } from './run-case.js';

/** In the order of the catalogue, those with a word in place of a number last. */
export const abuseCases: readonly AbuseCase[] = [
  ...processCases,
  ...resourceCases,
  ...outputCases,
  ...archiveCases,
  ...fileCases,
  ...kernelCases,
  ...machineCases,
  ...networkCases,
  ...trustCases,
  ...ownerCases,
  ...sharedCases,
  ...controlCases,
  ...publicCases,
].sort((one, other) => numberOf(one) - numberOf(other));

function numberOf({ id }: AbuseCase): number {
  const number = Number.parseInt(id, 10);
  return Number.isNaN(number) ? 1000 : number;
}
