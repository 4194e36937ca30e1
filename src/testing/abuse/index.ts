/** Every case of abuse that concerns a cell. */
import type { AbuseCase } from './case.js';
import { archiveCases } from './cases/archives.js';
import { controlCases } from './cases/control.js';
import { fileCases } from './cases/files.js';
import { kernelCases } from './cases/kernel.js';
import { machineCases } from './cases/machine.js';
import { networkCases } from './cases/network.js';
import { outputCases } from './cases/output.js';
import { ownerCases } from './cases/owner.js';
import { processCases } from './cases/processes.js';
import { publicCases } from './cases/public.js';
import { resourceCases } from './cases/resources.js';
import { sharedCases } from './cases/shared.js';
import { trustCases } from './cases/trust.js';

export { runCase, type Verdict } from './run.js';

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
