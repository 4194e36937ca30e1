import { Command } from 'commander';
import { inKeptCell, type KeptCellOptions, withKeptCellOptions } from '../in-kept-cell.js';
import { watchInterrupts } from '../interrupts.js';
import { Progress } from '../start-progress.js';
import { size } from '../text-table.js';

const notes = `
One of the two is in a kept cell: the cell's id or its beginning, a colon, and a path there. Without a path, or with a relative one, it is in the workspace.
A directory goes with all that is below it. A directory that exists gets the source below it, as with "cp -r".

Examples:
  $ workcell cp ./data 3f9a:
  $ workcell cp 3f9a:report.pdf .`;

/** `workcell cp`: files into a kept cell and out of one. */
export function cpCommand(): Command {
  return withKeptCellOptions(new Command('cp').description('Copy files into a kept cell, or out of one'))
    .argument('<from>', 'a path, or cell:path')
    .argument('<to>', 'a path, or cell:path')
    .addHelpText('after', notes)
    .action(copy);
}

async function copy(from: string, to: string, options: KeptCellOptions): Promise<void> {
  const source = inCell(from);
  const target = inCell(to);
  if ((source === undefined) === (target === undefined)) {
    const { WorkcellError } = await import('../../protocol/errors.js');
    const found = source === undefined ? 'Neither' : 'Each';
    throw new WorkcellError(
      'invalid-action',
      `${found} of ${JSON.stringify(from)} and ${JSON.stringify(to)} is in a cell. Name one as CELL:PATH, and give a path with a colon as ./PATH.`,
    );
  }
  const { copyIn, copyOut } = await import('../copy-files.js');
  using interrupts = watchInterrupts();
  const { signal } = interrupts;
  const { id } = (source ?? target) as InCell;
  const progress = new Progress();
  const onBytes = (done: number, whole: number | undefined) =>
    progress.show(`Copying: ${size(done)}${whole === undefined ? '' : ` of ${size(whole)}`}`);
  const { files, sizeBytes } = await inKeptCell(id, options, (runtime) =>
    source === undefined
      ? copyIn(runtime, from, (target as InCell).path, { signal, onBytes })
      : copyOut(runtime, source.path, to, { signal, onBytes }),
  ).finally(() => progress.end());
  process.stdout.write(`${files} ${files === 1 ? 'file' : 'files'}, ${size(sizeBytes)}\n`);
}

interface InCell {
  readonly id: string;
  readonly path: string;
}

function inCell(word: string): InCell | undefined {
  const [, id, path] = /^([a-z0-9]+):(.*)$/s.exec(word) ?? [];
  return id === undefined || path === undefined ? undefined : { id, path: path === '' ? '.' : path };
}
