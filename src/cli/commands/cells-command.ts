import { fileURLToPath } from 'node:url';
import { Command } from 'commander';
import type { CellInfo, Runtime } from '../../index.js';
import { type CellOptions, withConfigOption } from '../cell-options.js';
import { plainText } from '../sanitize.js';

interface CellsOptions extends Pick<CellOptions, 'backend' | 'config'> {
  json?: true;
}

const notes = `
Kept cells are those that you started with --keep-alive, or with keepAlive in
code. Name one by its id or the beginning of it.

Examples:
  $ workcell run --backend local --keep-alive 'cd /tmp; export A=1'
  $ workcell cells
  $ workcell run --attach 3f9a 'pwd; echo $A'
  $ workcell shell --attach 3f9a
  $ workcell cells stop 3f9a`;

/** `workcell cells`: cells that outlive the program that started them. */
export function cellsCommand(): Command {
  const cells = new Command('cells')
    .description('List, pause, resume and stop kept cells')
    .addHelpText('after', notes);
  const commands = [
    new Command('list').description('List kept cells').action(list),
    named('stop', 'Stop cells and leave nothing behind', stop),
    named('pause', 'Pause everything in cells, where the backend can', pause),
    named('resume', 'Let cells go on', resume),
  ];
  for (const command of commands) {
    withConfigOption(command)
      .option('-b, --backend <name>', 'only this backend (default: all that can keep cells)')
      .option('--json', 'print one line of JSON');
    cells.addCommand(command, { isDefault: command.name() === 'list' });
  }
  return cells;
}

type Work = (runtime: Runtime) => Promise<void>;

function named(name: string, about: string, work: Work): Command {
  return new Command(name)
    .description(about)
    .argument('<cell...>', 'ids, or their beginnings')
    .action((ids: string[], options: CellsOptions) => each(ids, options, work));
}

const stop: Work = (runtime) => runtime.close();

const pause: Work = async (runtime) => {
  await runtime.pause();
  await runtime.detach();
};

/** Attaching to a cell resumes it. */
const resume: Work = (runtime) => runtime.detach();

async function each(ids: readonly string[], options: CellsOptions, work: Work): Promise<void> {
  const { attachRuntime } = await import('../../attach-runtime.js');
  const { findCell } = await import('../find-cell.js');
  const { placeGiven } = await import('../start-runtime.js');
  const { config } = options;
  const place = { ...(await placeGiven(options)), config };
  const done: string[] = [];
  for (const given of ids) {
    const cell = await findCell(given, place);
    const { id } = cell;
    const runtime = await attachRuntime(cell, { config }).catch((error: unknown) => ended(error, work));
    if (runtime === undefined)
      process.stderr.write(`workcell: cell ${id} was dead; its remains are removed\n`);
    else await leaveOnFailure(runtime, work);
    done.push(id);
    if (!options.json) process.stdout.write(`${id}\n`);
  }
  if (options.json) process.stdout.write(`${JSON.stringify(done)}\n`);
}

/** The attempt to attach has already removed a dead cell. */
async function ended(error: unknown, work: Work): Promise<undefined> {
  const { WorkcellError } = await import('../../protocol/errors.js');
  if (work === stop && WorkcellError.isInstance(error) && error.code === 'runtime-disconnected')
    return undefined;
  throw error;
}

async function leaveOnFailure(runtime: Runtime, work: Work): Promise<void> {
  try {
    await work(runtime);
  } catch (error) {
    await runtime.detach();
    throw error;
  }
}

async function list(options: CellsOptions): Promise<void> {
  const { listCells } = await import('../../cells.js');
  const { placeGiven } = await import('../start-runtime.js');
  const onUnavailable = (backend: string, reason: string) =>
    process.stderr.write(`workcell: ${backend} was not asked: ${plainText(reason)}\n`);
  const cells = await listCells({ ...(await placeGiven(options)), config: options.config, onUnavailable });
  if (options.json) {
    process.stdout.write(`${JSON.stringify(cells)}\n`);
    return;
  }
  if (cells.length === 0) {
    process.stdout.write('There are no cells that were kept alive.\n');
    return;
  }
  const { age, formatTable } = await import('../text-table.js');
  const header = ['CELL', 'BACKEND', 'STATUS', 'AGE', 'ISOLATION', 'USED BY', 'LABELS', 'WORKSPACE'];
  process.stdout.write(
    `${formatTable(
      header,
      cells.map((cell) => row(cell, age)),
    )}\n`,
  );
}

function row(
  { id, backend, status, startedAt, isolation, heldBy, labels, workspace }: CellInfo,
  age: (ms: number) => string,
): string[] {
  const pairs = Object.entries(labels ?? {}).map((pair) => pair.join('='));
  return [
    id,
    // Show the file of a foreign backend, because --backend takes that.
    backend.startsWith('file:') ? fileURLToPath(backend) : backend,
    status,
    startedAt === undefined ? '-' : age(Date.now() - startedAt.getTime()),
    isolation ?? '-',
    heldBy === undefined ? '-' : String(heldBy),
    pairs.join(',') || '-',
    workspace ?? '-',
  ].map(plainText);
}
