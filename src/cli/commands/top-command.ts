import { setTimeout as delay } from 'node:timers/promises';
import { Command } from 'commander';
import type { CellInfo, Observation, Runtime } from '../../index.js';
import type { KeptCellOptions } from '../in-kept-cell.js';
import { withKeptCellOptions } from '../in-kept-cell.js';
import { watchInterrupts } from '../interrupts.js';
import { plainText } from '../sanitize.js';

const notes = `
Shows what each kept cell uses. It does not wake a paused cell, which has no
figures, nor does it disturb a program that works in one: on backends that
cannot tell the figures of such a cell, it has none.

Examples:
  $ workcell top
  $ workcell top 3f9a --watch         again every 2 seconds, until Ctrl-C`;

interface TopOptions extends KeptCellOptions {
  json?: true;
  watch?: true;
}

/** `workcell top`: what kept cells use. */
export function topCommand(): Command {
  return withKeptCellOptions(new Command('top').description('Show what kept cells use'))
    .argument('[cell...]', 'ids, or their beginnings (default: all)')
    .option('-w, --watch', 'show it again every 2 seconds')
    .option('--json', 'print one line of JSON')
    .addHelpText('after', notes)
    .action(top);
}

async function top(named: string[], options: TopOptions): Promise<void> {
  using interrupts = watchInterrupts();
  const { signal } = interrupts;
  do {
    const used = await usageOfCells(named, options, signal);
    if (options.json) process.stdout.write(`${JSON.stringify(used)}\n`);
    else process.stdout.write(await describe(used, options.watch === true));
    if (options.watch) await delay(2000, undefined, { signal }).catch(() => {});
  } while (options.watch && !signal.aborted);
  process.exitCode = interrupts.exitCode();
}

type Stats = Omit<Observation<'stats'>, 'observation'>;

interface Usage {
  readonly id: string;
  readonly backend: string;
  readonly status: string;
  /** Null where looking would wake the cell, or disturb a program that works in it. */
  readonly stats: Stats | null;
}

async function usageOfCells(
  named: readonly string[],
  options: TopOptions,
  signal: AbortSignal,
): Promise<Usage[]> {
  const { listCells } = await import('../../cells.js');
  const { findCell } = await import('../find-cell.js');
  const { placeGiven } = await import('../start-runtime.js');
  const { config } = options;
  const place = { ...(await placeGiven(options)), config };
  const cells =
    named.length === 0
      ? await listCells({ ...place, onUnavailable: () => {} })
      : await Promise.all(named.map((each) => findCell(each, place)));
  return Promise.all(
    cells.map(async (cell) => {
      const { id, backend, status } = cell;
      return {
        id,
        backend,
        status,
        stats: status === 'running' ? await statsOf(cell, config, signal) : null,
      };
    }),
  );
}

const patienceMs = 5000;

/** A cell may end, be taken by another program, or fall silent, before it answers. */
async function statsOf(
  cell: CellInfo,
  config: KeptCellOptions['config'],
  interrupted: AbortSignal,
): Promise<Stats | null> {
  const { attachRuntime } = await import('../../attach-runtime.js');
  const { keeper } = await import('../../cells.js');
  const { id, place, heldBy } = cell;
  const signal = AbortSignal.any([interrupted, AbortSignal.timeout(patienceMs)]);
  let runtime: Runtime | undefined;
  try {
    const { backend } = await keeper(cell.backend, 'list cells');
    if (backend.stats !== undefined) {
      const { observation: _, ...stats } = await backend.stats(id, place, { signal });
      return stats;
    }
    if (heldBy !== undefined) return null;
    runtime = await attachRuntime(cell, { config, signal });
    const { observation: _, ...stats } = await runtime.execute({ action: 'stats' }, { signal });
    return stats;
  } catch (error) {
    if (interrupted.aborted) return null;
    process.stderr.write(
      `workcell: ${cell.id}: ${plainText(error instanceof Error ? error.message : String(error))}\n`,
    );
    return null;
  } finally {
    await runtime?.detach();
  }
}

async function describe(used: readonly Usage[], clear: boolean): Promise<string> {
  const { age, formatTable, size } = await import('../text-table.js');
  const rows = used.map(({ id, status, stats }) => [
    id,
    plainText(status),
    ...(stats === null
      ? ['-', '-', '-', '-', '-', '-']
      : [
          `${(stats.cpuMs / 1000).toFixed(1)} s`,
          size(stats.memoryBytes),
          size(stats.diskUsedBytes),
          String(stats.processes),
          age(stats.uptimeMs),
          age(stats.idleMs),
        ]),
  ]);
  const table =
    used.length === 0
      ? 'There are no cells that were kept alive.'
      : formatTable(['CELL', 'STATUS', 'CPU TIME', 'MEMORY', 'DISK', 'PROCESSES', 'UP', 'IDLE'], rows);
  return `${clear && process.stdout.isTTY ? '\x1b[H\x1b[J' : ''}${table}\n`;
}
