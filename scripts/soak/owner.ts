/**
 * A process that owns sandboxes, for us to kill: creates, uses and ends them for as long as it lives. Prints how the
 * names of its control groups begin before it starts the first. With `once` it makes one and ends by itself.
 */
// Loaded before the word goes out, so that the moment of the kill falls among the cells and not before them.
import '../../src/backends/sandbox.js';
import { ownedPrefix } from '../../src/cell/launchers/scratch.js';
import { createRuntime } from '../../src/index.js';

const once = process.argv[2] === 'once';

console.log(ownedPrefix());

async function cycle(index: number): Promise<void> {
  const pool = index % 4 === 3 ? { size: 2 } : undefined;
  await using runtime = await createRuntime({ backend: 'sandbox', config: false, pool });
  await runtime.run(index % 2 === 0 ? 'true' : 'setsid sleep 1000 & sleep 1000 & disown -a');
  if (index % 5 === 4) await runtime.processes.start(['sleep', '1000']);
}

async function forever(): Promise<never> {
  for (let index = 0; ; index++) await cycle(index);
}

if (once) await cycle(0);
else await Promise.all([forever(), forever()]);
