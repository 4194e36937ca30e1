import { isInstalled } from '../../base/optional-package.js';
import type { Probe } from '../backend.js';
import { bundleObstacle } from '../images/bundle/bundle-obstacle.js';

interface VendorProbe {
  readonly vendor: string;
  /** What it calls its sandboxes. */
  readonly cells: string;
  /** The package of its client. */
  readonly client: string;
  readonly version?: string;
  /** Throws when there is no key. */
  key(): unknown;
}

/** What can be told of a vendor without asking it: whether its client is here, and a key. */
export async function probeVendor({ vendor, cells, client, version, key }: VendorProbe): Promise<Probe> {
  const obstacle = bundleObstacle();
  if (obstacle !== undefined) return { ...obstacle, tier: 'vendor' };
  if (!isInstalled(client)) {
    const install = `npm install ${client}${version === undefined ? '' : `@${version}`}`;
    return missing(`The client of ${vendor}, the package "${client}", is not installed.`, [
      `Install it with: ${install}`,
    ]);
  }
  try {
    await key();
  } catch (error) {
    return missing(error instanceof Error ? error.message : String(error));
  }
  return {
    available: true,
    tier: 'vendor',
    summary: `Asks ${vendor} for ${cells}; what they enforce is what ${vendor} says.`,
    advice: [],
  };
}

function missing(summary: string, advice: readonly string[] = []): Probe {
  return { available: false, tier: 'vendor', summary, advice };
}
