/** The rules of this package. */
import type { RuleFile } from './rule-file.js';
import { RuleSet } from './rule-set.js';
import { infrastructure } from './tables/clouds.js';
import { databases } from './tables/databases.js';
import { disks } from './tables/disks.js';
import { files } from './tables/files.js';
import { machine } from './tables/machine.js';
import { network } from './tables/network.js';
import { packages } from './tables/packages.js';
import { rights } from './tables/rights.js';
import { secretStores } from './tables/secret-stores.js';
import { services } from './tables/services.js';
import { shell } from './tables/shell.js';
import { starts } from './tables/starts.js';
import { versionControl } from './tables/version-control.js';
import { windows } from './tables/windows.js';

const tables = [
  files,
  rights,
  disks,
  network,
  services,
  packages,
  machine,
  shell,
  versionControl,
  infrastructure,
  databases,
  windows,
  secretStores,
  starts,
];

export const builtinRules = new RuleSet(tables);

/** These and more. */
export function rulesWith(more: readonly RuleFile[]): RuleSet {
  if (more.length === 0) return builtinRules;
  return new RuleSet(
    [...tables, ...more.map(({ rules }) => rules)],
    more.flatMap(({ harmless }) => harmless),
  );
}
