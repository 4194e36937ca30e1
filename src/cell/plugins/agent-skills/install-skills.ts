import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { PluginCell } from '../plugin.js';
import { skillsModule } from './skills-module.js';

/** Puts the module where the cell can read it. Returns the search path with its directory at the end. */
export async function install(cell: Pick<PluginCell, 'exchange' | 'execute'>): Promise<string> {
  const { outside, inside } = cell.exchange;
  const folder = join(outside, 'agent-skills');
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await writeFile(join(folder, 'agentskills.py'), skillsModule(), { mode: 0o600 });
  const { variables } = await cell.execute<'get_env'>({ action: 'get_env' });
  return [variables.PYTHONPATH, `${inside}/agent-skills`].filter(Boolean).join(':');
}
