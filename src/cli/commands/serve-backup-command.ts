import { Command } from 'commander';
import { type CellOptions, withConfigOption } from '../cell-options.js';
import { plainText } from '../sanitize.js';

const notes = `
The copy has the service's cells, keys and usage as they are at one moment; the
service may run meanwhile. To go back, stop the service, remove the files beside
its store (service.store) that end in -wal and -shm, put the copy in its place,
and start the service. With these files, SQLite would change the copy.`;

/** `workcell serve backup`: a copy of what a service must not forget. */
export function serveBackupCommand(): Command {
  const command = new Command('backup')
    .description("Copy a service's store to a new file")
    .argument('<file>', 'the file to write; it must not exist')
    .addHelpText('after', notes);
  return withConfigOption(command).action(backup);
}

async function backup(file: string, { config }: Pick<CellOptions, 'config'>): Promise<void> {
  const { copyStore } = await import('../../service/store-copy.js');
  const store = await copyStore(config, file);
  process.stdout.write(`${plainText(`copied ${store} to ${file}`)}\n`);
}
