import { WorkcellError } from '../../protocol/index.js';
import type { PluginCell } from './plugin.js';

/**
 * Removes what a program of a plugin kept under its name: directories in the cell's exchange and temporary places,
 * and its socket.
 */
export async function removeInside(cell: PluginCell, name: string): Promise<void> {
  const script = 'rm -rf "$0/$2" "${TMPDIR:-/tmp}/$2" "$1/$2.sock"';
  try {
    const argv = ['sh', '-c', script, cell.exchange.inside, cell.sockets.inside, name];
    const { stdin, stdout, stderr, exited } = await cell.spawn(argv);
    stdin.destroy();
    stdout.resume();
    stderr.resume();
    await exited;
  } catch (error) {
    // Closing the cell has removed all of it.
    if (!WorkcellError.isInstance(error)) throw error;
  }
}
