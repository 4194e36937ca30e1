/** Opens a page and waits until we kill it. Prints the processes below it. */
import { execFileSync } from 'node:child_process';
import { createRuntime } from '../../../../src/index.js';

const runtime = await createRuntime({ config: false, backend: 'cli' });
await runtime.browse('about:blank');
const table = execFileSync('ps', ['-eo', 'pid=,ppid=,comm='], { encoding: 'utf8' })
  .trim()
  .split('\n')
  .map((line) => line.trim().split(/\s+/) as [string, string, string]);
const below = new Set([String(process.pid)]);
// A parent has a smaller number than its children, except where numbers began anew.
for (const [pid, parent] of table) if (below.has(parent)) below.add(pid);
const pids = table
  .filter(([pid, , name]) => below.has(pid) && name.startsWith('chromium'))
  .map(([pid]) => Number(pid));
console.log(JSON.stringify({ pids }));
setInterval(() => {}, 60_000);
