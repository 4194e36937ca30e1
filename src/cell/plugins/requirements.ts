import { WorkcellError } from '../../protocol/index.js';
import type { Plugin, PluginCell } from './plugin.js';

/** Why a plugin cannot work here: the first missing thing that it needs, and how to get it. */
export async function missingRequirement(
  cell: PluginCell,
  { requirements = [] }: Plugin,
  options: unknown,
): Promise<string | undefined> {
  const needed = typeof requirements === 'function' ? requirements(options) : requirements;
  for (const { name, check, install } of needed) {
    if (!(await succeeds(cell, check))) return `It needs ${name}, which is missing in the cell: ${install}`;
  }
  return undefined;
}

/** Whether a program of the cell ends well. */
export async function succeeds(cell: PluginCell, argv: readonly string[]): Promise<boolean> {
  try {
    const { stdin, stdout, stderr, exited } = await cell.spawn(argv);
    stdin.on('error', () => {});
    stdin.end();
    stdout.resume();
    stderr.resume();
    return (await exited).exitCode === 0;
  } catch (error) {
    if (WorkcellError.isInstance(error) && error.code === 'spawn-failed') return false;
    throw error;
  }
}
