/** A program dies in the middle of its work, and another continues where it was. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { attachRuntime, createRuntime, listCells } from 'workcell';

if (process.argv[2] === 'begin') {
  const runtime = await createRuntime({ backend: 'local', keepAlive: true });
  await runtime.run('export STAGE=one; mkdir work; cd work; echo "half done" > report');
  console.log(runtime.id);
  process.kill(process.pid, 'SIGKILL');
}

const self = fileURLToPath(import.meta.url);
const child = spawn(process.execPath, [...process.execArgv, self, 'begin'], {
  stdio: ['ignore', 'pipe', 'inherit'],
});
const [said] = await once(child.stdout, 'data');
await once(child, 'exit');
const id = String(said).trim();

const found = (await listCells({ backend: 'local' })).find((cell) => cell.id === id);
assert.equal(found?.status, 'running');

await using runtime = await attachRuntime(id);
const { output } = await runtime.run('echo "$STAGE"; cat report');
assert.equal(output, 'one\nhalf done\n');
console.log(`Cell ${id} went on:\n${output}`);
