/** Runs a command's work in one kept cell, which continues afterwards. */
import type { Command } from 'commander';
import type { Runtime } from '../index.js';
import { type CellOptions, withConfigOption } from './cell-options.js';

export type KeptCellOptions = Pick<CellOptions, 'backend' | 'config'>;

export function withKeptCellOptions(command: Command): Command {
  return withConfigOption(command).option(
    '-b, --backend <name>',
    'look for the cell here only (default: all backends that can keep cells)',
  );
}

/** `named`: the id of the cell, or its beginning. */
export async function inKeptCell<Result>(
  named: string,
  options: KeptCellOptions,
  work: (runtime: Runtime) => Promise<Result>,
): Promise<Result> {
  const { attachRuntime } = await import('../attach-runtime.js');
  const { findCell } = await import('./find-cell.js');
  const { placeGiven } = await import('./start-runtime.js');
  const { config } = options;
  const cell = await findCell(named, { ...(await placeGiven(options)), config });
  const runtime = await attachRuntime(cell, { config });
  try {
    return await work(runtime);
  } finally {
    await runtime.detach();
  }
}
