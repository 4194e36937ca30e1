/** A change as an agent makes it: clone, read the rules, edit, look at the difference, commit, push. */
import assert from 'node:assert/strict';
import { createRuntime } from 'workcell';

const runtime = await createRuntime({ backend: 'sandbox', config: false });
try {
  // A repository to clone from, in the cell itself; usually this is the address of a server.
  const origin = runtime.git.at('origin');
  await runtime.write('origin/greet.sh', 'echo "Hello, $1"\n');
  await runtime.write('origin/AGENTS.md', 'Greet politely.\n');
  await origin.init();
  await origin.commit('feat: greet');

  const git = await runtime.git.clone('./origin', { into: 'project' });
  const branch = await git.workBranch();
  const { instructions } = await runtime.microagents.load({
    path: git.path,
    user: false,
    organisation: false,
  });
  console.log(`rules: ${instructions}`);

  await runtime.edit('project/greet.sh', { oldText: 'Hello', newText: 'Good morning' });
  const { patch, files } = await git.diff();
  console.log(patch.trimEnd());
  assert.deepEqual(files, [{ path: 'greet.sh', added: 1, deleted: 1, isBinary: false }]);
  assert.equal((await runtime.run('bash project/greet.sh Ann')).output, 'Good morning, Ann\n');

  const { id } = await git.commit('feat: greet politely', {
    author: { name: 'Agent', email: 'agent@localhost' },
  });
  await git.push();
  const [pushed] = await origin.log({ ref: branch, limit: 1 });
  assert.equal(pushed?.id, id);
  assert.ok((await git.status()).isClean);
  console.log(`${branch} has ${id.slice(0, 7)} ${pushed.subject}`);
} finally {
  await runtime.close();
}
