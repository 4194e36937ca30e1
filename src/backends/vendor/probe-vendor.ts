import { isInstalled } from '../../base/optional-package.js';
import type { Probe } from '../backend.js';
import { bundleObstacle } from '../images/bundle/bundle-obstacle.js';

/** What can be told of a vendor without asking it: whether its client is here. */
export function probeVendor(vendor: string, cells: string, client: string, version?: string): Probe {
  const obstacle = bundleObstacle();
  if (obstacle !== undefined) return { ...obstacle, tier: 'vendor' };
  const install = `npm install ${client}${version === undefined ? '' : `@${version}`}`;
  if (isInstalled(client))
    return {
      available: true,
      tier: 'vendor',
      summary: `Asks ${vendor} for ${cells}; what they enforce is what ${vendor} says.`,
      advice: [],
    };
  return {
    available: false,
    tier: 'vendor',
    summary: `The client of ${vendor}, the package "${client}", is not installed.`,
    advice: [`Install it with: ${install}`],
  };
}
