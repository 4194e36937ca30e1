import { once } from 'node:events';
import { Command } from 'commander';
import { inKeptCell, type KeptCellOptions, withKeptCellOptions } from '../in-kept-cell.js';
import { watchInterrupts } from '../interrupts.js';
import { parsePort } from '../parse-port.js';

const notes = `
Prints an address for each port, and stays until Ctrl-C. Every program of this machine can use it. Works where the cell has no network, too.

Examples:
  $ workcell forward 3f9a 8000
  $ workcell forward 3f9a 3000:80 5432      port 80 of the cell at 3000 here`;

/** `workcell forward`: ports of a kept cell on this machine's loopback. */
export function forwardCommand(): Command {
  return withKeptCellOptions(new Command('forward').description('Reach ports of a kept cell from here'))
    .argument('<cell>', 'its id, or the beginning of it')
    .argument('<port...>', 'a port of the cell, or PORT-HERE:PORT')
    .addHelpText('after', notes)
    .action(forward);
}

async function forward(cell: string, words: string[], options: KeptCellOptions): Promise<void> {
  const wanted = await Promise.all(words.map(parsePorts));
  using interrupts = watchInterrupts();
  await inKeptCell(cell, options, async (runtime) => {
    for (const { port, localPort } of wanted) {
      const forwarded = await runtime.ports.forward(port, { localPort });
      process.stdout.write(`127.0.0.1:${forwarded.port} leads to port ${port} of the cell\n`);
    }
    if (!interrupts.signal.aborted) await once(interrupts.signal, 'abort');
    await runtime.ports.closeAll();
  });
  process.exitCode = interrupts.exitCode();
}

async function parsePorts(word: string): Promise<{ port: number; localPort: number | undefined }> {
  const [, here, port = word] = /^(?:(.*):)?(.*)$/.exec(word) ?? [];
  const form = '8000, or 3000:80';
  return {
    port: await parsePort(port, form),
    localPort: here === undefined ? undefined : await parsePort(here, form),
  };
}
