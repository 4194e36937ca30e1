/** The smallest useful program: a command, a file, an edit, and the end of it all. */
import assert from 'node:assert/strict';
import { createRuntime } from 'workcell';

const runtime = await createRuntime();
try {
  await runtime.write('greet.sh', 'echo "Hello, $1"\n');
  await runtime.edit('greet.sh', { oldText: 'Hello', newText: 'Welcome' });
  const { output, exitCode } = await runtime.run('bash greet.sh Workcell');
  console.log(output.trimEnd());
  assert.equal(output.trimEnd(), 'Welcome, Workcell');
  assert.equal(exitCode, 0);
} finally {
  await runtime.close();
}
