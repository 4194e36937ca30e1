/** The same work in several places: a plain directory, a server of this machine, a sandbox. */
import assert from 'node:assert/strict';
import { createRuntime } from 'workcell';

for (const backend of ['cli', 'local', 'sandbox'] as const) {
  await using runtime = await createRuntime({ config: false, backend, events: { store: 'memory' } });
  await runtime.write('numbers.txt', '1\n2\n3\n');
  const { output } = await runtime.run('wc -l < numbers.txt');
  assert.equal(output.trim(), '3');
  // What the place enforces differs, and it says so.
  console.log(`${backend}: isolation ${runtime.isolation.tier}`);
}
