import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { Command, Option } from 'commander';
import { hostEnvironment, hostProgram } from '../../base/find-program.js';
import { inKeptCell, type KeptCellOptions, withKeptCellOptions } from '../in-kept-cell.js';
import { watchInterrupts } from '../interrupts.js';
import { parsePort } from '../parse-port.js';

const notes = `
Prints the address, opens it in your browser and stays until Ctrl-C. Every
program of this machine can use the address meanwhile.

Examples:
  $ workcell open 3f9a 8000
  $ workcell open 3f9a 8000 /docs
  $ workcell open 3f9a 8000 --no-browser     only prints the address`;

/** `workcell open`: a page of a kept cell in the browser. */
export function openCommand(): Command {
  return withKeptCellOptions(new Command('open').description('Open a page of a kept cell in your browser'))
    .argument('<cell>', 'its id, or the beginning of it')
    .argument('<port>', 'a port of the cell')
    .argument('[path]', 'of the page', '/')
    .addOption(new Option('--no-browser', 'only print the address'))
    .addHelpText('after', notes)
    .action(open);
}

async function open(
  cell: string,
  word: string,
  path: string,
  options: KeptCellOptions & { browser: boolean },
): Promise<void> {
  const port = await parsePort(word);
  using interrupts = watchInterrupts();
  await inKeptCell(cell, options, async (runtime) => {
    const forwarded = await runtime.ports.forward(port);
    // One slash, so that it cannot name another host.
    const address = new URL(path.replace(/^[/\\]*/, '/'), `http://127.0.0.1:${forwarded.port}`);
    process.stdout.write(`${address}\n`);
    if (options.browser) await startBrowser(`${address}`);
    if (!interrupts.signal.aborted) await once(interrupts.signal, 'abort');
    await runtime.ports.closeAll();
  });
  process.exitCode = interrupts.exitCode();
}

/** Where there is no browser to start, the printed address remains. */
async function startBrowser(address: string): Promise<void> {
  const program = process.platform === 'darwin' ? 'open' : 'xdg-open';
  const browser = spawn(hostProgram(program), [address], {
    env: hostEnvironment(),
    stdio: 'ignore',
    detached: true,
  });
  try {
    await once(browser, 'spawn');
    browser.unref();
  } catch {
    process.stderr.write(`workcell: ${program} is not there; open the address yourself\n`);
  }
}
